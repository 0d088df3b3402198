import assert from "node:assert/strict";
import { type ReceivedMail, readMails } from "./mails.ts";
import type { TestService } from "./service.ts";

type Mailing = Pick<TestService, "runJob" | "dataDirs">;

/** Every mail to `to`, oldest first, after everything that was asked for has been sent. */
export async function mailsTo(service: Mailing, to: string): Promise<ReceivedMail[]> {
  await service.runJob("answer-mail-requests");
  return readMails(service, to);
}

export async function subjectsTo(service: Mailing, to: string): Promise<string[]> {
  return (await mailsTo(service, to)).map((mail) => mail.subject);
}

/** The token of the latest link to a page of the dashboard that was mailed to `to`. */
export async function latestToken(service: Mailing, to: string, page: string): Promise<string> {
  const link = new RegExp(`^https?://\\S+/dashboard/${page}#token=([A-Za-z0-9]{43})$`, "m");
  const tokens = (await mailsTo(service, to)).flatMap((mail) => link.exec(mail.text)?.[1] ?? []);
  const token = tokens.at(-1);
  assert.ok(token, `no link to ${page} was mailed`);
  return token;
}

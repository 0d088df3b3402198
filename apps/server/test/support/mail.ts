import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestService } from "./service.ts";

type Mailing = Pick<TestService, "runJob" | "dataDir">;

/** Every mail that was written to `to`, oldest first, after everything that waits has been sent. */
export async function mailsTo(service: Mailing, to: string): Promise<string[]> {
  await service.runJob("answer-mail-requests");
  await service.runJob("send-mails");
  const folder = join(service.dataDir, "mail");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".eml"))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .filter((text) => text.includes(`\nTo: ${to}\n`));
}

export function subjectOf(mail: string): string {
  return /^Subject: (.*)$/m.exec(mail)?.[1] ?? "";
}

/** The token of the link in a mail, whose page must be `page`. */
export function tokenIn(mail: string | undefined, page: string): string {
  const token = new RegExp(`^https?://\\S+/dashboard/${page}#token=([A-Za-z0-9]{43})$`, "m").exec(
    mail ?? "",
  )?.[1];
  assert.ok(token, `there is no link to ${page} in the mail: ${mail}`);
  return token;
}

/** The token of the latest link to `page` that was mailed to `to`. */
export async function latestToken(service: Mailing, to: string, page: string): Promise<string> {
  const mails = await mailsTo(service, to);
  return tokenIn(mails.filter((mail) => mail.includes(`/dashboard/${page}#`)).at(-1), page);
}

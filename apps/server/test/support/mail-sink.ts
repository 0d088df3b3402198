import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { SMTPServer } from "smtp-server";
import type { TestService } from "./service.ts";

type Mailing = Pick<TestService, "runJob">;

/** A mail server that keeps mails as they arrive. With a certificate it speaks TLS at once. */
export async function startMailSink(tls: { cert: string; key: string } | null = null) {
  const received: { to: string; subject: string; text: string }[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    secure: tls !== null,
    ...tls,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        // Quoted-printable breaks lines and writes = as =3D.
        const text = Buffer.concat(chunks).toString().replace(/=\r\n/g, "").replace(/=3D/g, "=");
        const subject = /^Subject: (.*)\r$/m.exec(text)?.[1] ?? "";
        for (const { address } of session.envelope.rcptTo) received.push({ to: address, subject, text });
        done();
      });
    },
  });
  // A client that does not trust the certificate leaves.
  if (tls !== null) smtp.on("error", () => {});
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
  after(() => new Promise<void>((resolve) => smtp.close(() => resolve())));

  /** Every mail to `email`, oldest first, after everything that was asked for has been sent. */
  const mailsTo = async (service: Mailing, email: string) => {
    await service.runJob("answer-mail-requests");
    await service.runJob("send-mails");
    return received.filter((mail) => mail.to === email);
  };
  return {
    url: `${tls === null ? "smtp" : "smtps"}://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    mailsTo,
    /** The token of the latest link to a page of the dashboard. */
    async tokenFor(service: Mailing, email: string, page: string): Promise<string> {
      const mails = (await mailsTo(service, email)).filter(({ text }) => text.includes(`/${page}#token=`));
      const token = /#token=([A-Za-z0-9]{43})/.exec(mails.at(-1)?.text ?? "")?.[1];
      assert.ok(token, `no link to ${page} was mailed`);
      return token;
    },
  };
}

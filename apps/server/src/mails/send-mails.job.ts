import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { Core } from "../core.ts";
import { dayMs, later, minuteMs } from "../kernel/clock.ts";
import { describeError } from "../lib/log.ts";
import { claimDueMails, postponeMail, removeMail } from "./mail.store.ts";
import { html, type Mail, plainText } from "./mail.ts";

const leaseMs = 2 * minuteMs;
const batchSize = 20;
// A mail that could not be handed over for three days is given up: its content is out of date by then.
const giveUpAfterMs = 3 * dayMs;

export type MailTransport = {
  send(id: string, mail: Mail): Promise<void>;
};

/** SMTP where it is configured; otherwise a file for each mail. */
export function createMailTransport({ config, clock }: Pick<Core, "config" | "clock">): MailTransport {
  if (config.smtpUrl !== "") {
    const smtp = createTransport(config.smtpUrl, { from: config.mailFrom });
    return {
      send: async (id, mail) => {
        await smtp.sendMail({
          // As a text it would be read as a list of addresses.
          to: { name: "", address: mail.to },
          subject: mail.subject,
          text: plainText(mail),
          html: html(mail),
          messageId: messageId(id),
        });
      },
    };
  }
  const folder = join(config.dataDir, "mail");
  return {
    send: async (id, mail) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${id}.eml`);
      // Written under another name and renamed when complete, so that a program that watches the folder never reads
      // half a mail.
      writeFileSync(`${path}.part`, composeFile(id, mail, config.mailFrom, clock.now()), { mode: 0o600 });
      renameSync(`${path}.part`, path);
    },
  };
}

function messageId(id: string): string {
  return `<${id}@assay.invalid>`;
}

/** An .eml whose text part is readable as it stands: no line is folded, so a link can be copied out of it. */
function composeFile(id: string, mail: Mail, from: string, now: Date): string {
  const boundary = `part-${id}`;
  const header = (text: string) =>
    /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
  const lines = [
    `From: ${from}`,
    `To: ${mail.to}`,
    `Subject: ${header(mail.subject)}`,
    `Date: ${now.toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: ${messageId(id)}`,
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    "",
    `--${boundary}`,
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    plainText(mail),
    `--${boundary}`,
    "Content-Type: text/html; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    html(mail),
    `--${boundary}--`,
    "",
  ];
  return lines.join("\n");
}

/**
 * Sends due mails at least once: a mail may go out twice when the process dies right after sending, and is never
 * lost.
 */
export async function sendDueMails(
  { db, clock, ring, log }: Core,
  transport: MailTransport,
): Promise<number> {
  const now = clock.now();
  const due = await claimDueMails(db, now, later(now, leaseMs), batchSize);
  await Promise.all(
    due.map(async (row) => {
      try {
        await transport.send(row.id, JSON.parse(ring.openText("mail", row.content, row.id)) as Mail);
        await removeMail(db, row.id);
      } catch (error) {
        const tooOld = now.getTime() - row.created_at.getTime() > giveUpAfterMs;
        log.warn(
          tooOld
            ? "a mail could not be sent for three days and was given up"
            : "a mail could not be sent, will try again",
          {
            mailId: row.id,
            attempt: row.attempt_count,
            ...describeError(error),
          },
        );
        if (tooOld) await removeMail(db, row.id);
        else await postponeMail(db, row.id, later(now, Math.min(2 ** row.attempt_count, 60) * minuteMs));
      }
    }),
  );
  return due.length;
}

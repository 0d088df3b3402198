import type { OrganizationId } from "@assay/contract/ids";
import { createTransport } from "nodemailer";
import type { Core } from "../core.ts";
import { dayMs, later, minuteMs } from "../kernel/clock.ts";
import { describeError } from "../lib/log.ts";
import { claimDueMails, postponeMail, removeMail } from "./mail.store.ts";
import { html, type Mail, plainText } from "./mail.ts";
import { messageId, writeMailFile } from "./mail-files.ts";

const leaseMs = 2 * minuteMs;
const batchSize = 20;
// A mail that could not be handed over for three days is given up: its content is out of date by then.
const giveUpAfterMs = 3 * dayMs;

export type MailTransport = {
  send(id: string, mail: Mail, organizationId: OrganizationId | null): Promise<void>;
};

/** SMTP where it is configured; otherwise a file for each mail. */
export function createMailTransport({ config, clock }: Pick<Core, "config" | "clock">): MailTransport {
  if (config.smtpUrl !== "") {
    const smtp = createTransport(config.smtpUrl, { from: config.mailFrom });
    return {
      send: async (id, mail) => {
        await smtp.sendMail({
          to: mail.to,
          subject: mail.subject,
          text: plainText(mail),
          html: html(mail),
          messageId: messageId(id),
        });
      },
    };
  }
  return {
    send: async (id, mail, organizationId) => writeMailFile({ config, clock }, id, mail, organizationId),
  };
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
        const mail = JSON.parse(ring.openText("mail", row.content, row.id)) as Mail;
        await transport.send(row.id, mail, row.organization_id);
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

import type { OrganizationId } from "@assay/contract/ids";
import type { Transporter } from "nodemailer";
import type { Core } from "../core.ts";
import type { Steps } from "../db/quarantine.ts";
import { dayMs, later, minuteMs } from "../kernel/clock.ts";
import { describeError } from "../lib/log.ts";
import { type DueMail, leaseMails, postponeMail, removeMail, takeDueMails } from "./mail.store.ts";
import { html, type Mail, plainText } from "./mail.ts";
import { watchMailCertificate } from "./mail-certificate.ts";
import { mailHeaders, messageId, writeMailFile } from "./mail-files.ts";

const leaseMs = 2 * minuteMs;
export const mailsAtOnce = 20;
// A mail that could not be sent for three days is given up, because its content is out of date.
const giveUpAfterMs = 3 * dayMs;

type MailTransport = {
  send(id: string, mail: Mail, organizationId: OrganizationId | null): Promise<void>;
};

/** Uses SMTP if it is configured; otherwise writes a file for each mail. */
export function createMailTransport({
  config,
  clock,
  metrics,
}: Pick<Core, "config" | "clock" | "metrics">): MailTransport {
  if (config.smtpUrl !== "") {
    const watchCertificate = watchMailCertificate(metrics);
    // Imported with the first mail, so that it does not delay the start.
    let smtp: { url: string; transporter: Transporter } | null = null;
    return {
      send: async (id, mail) => {
        const { createTransport } = await import("nodemailer");
        if (smtp?.url !== config.smtpUrl) {
          const transporter = createTransport(config.smtpUrl, { from: config.mailFrom });
          smtp = { url: config.smtpUrl, transporter };
          watchCertificate(transporter);
        }
        await smtp.transporter.sendMail({
          // As a string it would be parsed as a list of addresses.
          to: { name: "", address: mail.to },
          subject: mail.subject,
          text: plainText(mail),
          html: html(mail),
          messageId: messageId(id, config.mailFrom),
          headers: mailHeaders(mail),
        });
      },
    };
  }
  return {
    send: async (id, mail, organizationId) => writeMailFile({ config, clock }, id, mail, organizationId),
  };
}

/**
 * Sends due mails at least once: none is lost, but a mail may be sent twice if the process dies right after
 * sending.
 */
export async function sendDueMails(core: Core, transport: MailTransport, job: string): Promise<number> {
  const { clock } = core;
  const rows = core.quarantine.rowsOf(job, "mails");
  const lease: Steps<DueMail> = {
    take: (tx, among) => takeDueMails(tx, clock.now(), among),
    handle: (tx, mails) =>
      leaseMails(
        tx,
        mails.map((mail) => mail.id),
        later(clock.now(), leaseMs),
      ),
  };
  const healed = await rows.retry(async (id) => {
    for (const row of await rows.again(id, lease)) await send(core, transport, row);
  });
  const { taken, done } = await rows.batch(mailsAtOnce, lease);
  await Promise.all(done.map((row) => rows.guard(row, () => send(core, transport, row))));
  return healed + taken.length;
}

/** Throws if the mail itself is at fault, not the mail server. */
async function send(core: Core, transport: MailTransport, row: DueMail): Promise<void> {
  const { db, clock, log } = core;
  const now = clock.now();
  const tooOld = now.getTime() - row.createdAt.getTime() > giveUpAfterMs;
  let mail: Mail;
  try {
    mail = openMail(core, row);
  } catch (error) {
    if (!tooOld) throw error;
    log.warn("a mail could not be read for three days and was given up", { mailId: row.id });
    return removeMail(db, row.id);
  }
  try {
    await transport.send(row.id, mail, row.organizationId);
  } catch (error) {
    const attempt = row.attemptCount + 1;
    log.warn(
      tooOld
        ? "a mail could not be sent for three days and was given up"
        : "a mail could not be sent; the job will retry",
      { mailId: row.id, attempt, ...describeError(error) },
    );
    if (!tooOld) return postponeMail(db, row.id, later(now, Math.min(2 ** attempt, 60) * minuteMs));
  }
  await removeMail(db, row.id);
}

function openMail({ ring }: Pick<Core, "ring">, row: DueMail): Mail {
  const mail = JSON.parse(ring.openText("mail", row.content, row.id)) as Mail;
  // Composed here, so that an invalid mail is not mistaken for a refusal by the mail server.
  plainText(mail);
  html(mail);
  return mail;
}

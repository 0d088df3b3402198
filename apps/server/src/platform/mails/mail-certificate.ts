import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { Transporter } from "nodemailer";
import type { Metrics } from "../lib/metrics.ts";

type WithTls = { options?: { tls?: Record<string, unknown> } };

/**
 * Records the expiry of the mail server's certificate whenever a mail is sent over TLS. The library does not
 * expose the certificate, so this hooks into the check of its name, which TLS and STARTTLS both run. An
 * invalid certificate never gets there: then mails wait, which has its own alarm.
 */
export function watchMailCertificate(metrics: Metrics): (smtp: Transporter) => void {
  let expiresAtMs: number | null = null;
  metrics.gaugeOf(
    "assay_mail_certificate_expiry_timestamp_seconds",
    "When the mail server's certificate expires, in seconds since 1970. Missing until a mail was sent over TLS.",
    () => (expiresAtMs === null ? null : expiresAtMs / 1000),
  );
  return (smtp) => {
    const { options } = smtp.transporter as WithTls;
    if (options === undefined) return;
    options.tls = {
      ...options.tls,
      checkServerIdentity: (host: string, certificate: PeerCertificate) => {
        const validTo = Date.parse(certificate.valid_to);
        expiresAtMs = Number.isNaN(validTo) ? null : validTo;
        return checkServerIdentity(host, certificate);
      },
    };
  };
}

import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { Transporter } from "nodemailer";
import type { Metrics } from "../lib/metrics.ts";

type WithTls = { options?: { tls?: Record<string, unknown> } };

/**
 * Notes until when the mail server's certificate is valid, each time a mail is handed over under TLS. The library tells nobody about the certificate, so
 * the check of its name is watched, which TLS and STARTTLS both come to. A certificate that does not verify never gets there: then mails wait, which is an
 * alarm of its own.
 */
export function watchMailCertificate(metrics: Metrics): (smtp: Transporter) => void {
  let expiresAtMs: number | null = null;
  metrics.gaugeOf(
    "assay_mail_certificate_expiry_timestamp_seconds",
    "When the mail server's certificate expires, in seconds since 1970. Missing until a mail was handed over under TLS.",
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

import { t } from "../i18n/words.ts";

/** Opens the user's own mail program with a prepared mail that contains the link. */
export function mailLink(verificationUrl: string, organization: string): string {
  const subject = t.sessions.mailSubject(organization);
  const body = t.sessions.mailBody({ organization, url: verificationUrl });
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`;
}

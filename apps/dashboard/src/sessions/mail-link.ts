import { t } from "../i18n/words.ts";

/** Opens the staff's own mail program, with the link in a letter that they can change. */
export function mailLink(verificationUrl: string, organization: string): string {
  const subject = t.sessions.mailSubject(organization);
  const body = t.sessions.mailBody({ organization, url: verificationUrl });
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`;
}

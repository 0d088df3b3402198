/** Opens the staff's own mail program, with the link in a letter that they can change. */
export function mailLink(verificationUrl: string, organization: string): string {
  const subject = `Verify your identity for ${organization}`;
  const body = `Please open this link to verify your identity for ${organization}:\n\n${verificationUrl}\n\nThe link is for you only.`;
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`;
}

/** A mistake in how the device was started, which its user can correct. */
export class DeviceError extends Error {}

/** `handoffToken`: from the link in a code on the person's page. */
export function parseVerificationUrl(text: string): {
  baseUrl: string;
  sessionId: string;
  handoffToken: string | null;
} {
  const url = URL.parse(text);
  const match = /^(.*)\/verify\/(vs_[A-Za-z0-9]{64})$/.exec(url?.pathname ?? "");
  if (url === null || !["http:", "https:"].includes(url.protocol) || match === null)
    throw new DeviceError("This is not the verification_url of a session.");
  const handoffToken = new URLSearchParams(url.hash.slice(1)).get("handoff");
  return { baseUrl: `${url.origin}${match[1] ?? ""}`, sessionId: match[2] ?? "", handoffToken };
}

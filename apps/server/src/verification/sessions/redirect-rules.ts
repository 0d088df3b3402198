import { unseenCharacters } from "@assay/contract/shown-text";

const unseenCharacter = new RegExp(`[${unseenCharacters}]`, "u");

/** An address as the partner gave it, or what is wrong with its form. */
export function parseRedirectUrl(text: string): { url: URL } | { problem: string } {
  // A browser drops line breaks and tabs in a URL, so it would open another address than the checked one.
  if (/[\s\p{Cc}\\]/u.test(text))
    return { problem: "must not hold white space, control characters or backslashes" };
  // The parser would encode them, but the original text is stored and shown.
  if (unseenCharacter.test(text)) return { problem: "must not hold an invisible character" };
  const url = URL.parse(text);
  if (url === null || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { problem: "must be a complete URL" };
  return { url };
}

/** What is wrong with an address in either environment, as the rest of a sentence about it, or null. */
export function commonRedirectProblem(url: URL): string | null {
  return url.username !== "" || url.password !== "" ? "must not hold credentials" : null;
}

/** In the sandbox people may be sent anywhere on https, and to the developer's own machine. */
export function sandboxRedirectProblem(url: URL): string | null {
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:" && url.hostname === "localhost") return null;
  return "must start with https://, or with http://localhost in the sandbox";
}

/** Live sessions redirect to https only. Verified domains decide which hosts are allowed. */
export function liveSchemeProblem(url: URL): string | null {
  return url.protocol === "https:" ? null : "must start with https://";
}

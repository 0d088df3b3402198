/**
 * What an e-mail address is, and when two of them are one. Pages and the service use this file, and nothing else decides it: the
 * database compares what was made here and never folds by itself, because two ways of folding differ sooner or later (`İ` has
 * another small letter in PostgreSQL than in JavaScript).
 */

/** An address as mailboxes are looked up, kept apart and counted: small letters, the domain in its ASCII (IDNA) form. */
export type FoldedEmail = string & { readonly foldedEmail: unique symbol };

/** `address` is what is shown and mailed to: the local part as it was typed, the domain in its ASCII form. */
export type EmailParts = { address: string; folded: FoldedEmail };

/**
 * In front of the @ are words of ASCII that need no quotes, with dots between them (a dot-atom), which leaves out `,;<>()":\[]` and white space: what mail programs read as more
 * than one address. Behind it are at least two labels of letters, digits, hyphens and characters beyond ASCII. No character
 * is in two neighbouring parts, so a text can match in one way only.
 */
export const emailPattern =
  "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[^\\u0000-\\u002c\\u002e\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u007f]+(\\.[^\\u0000-\\u002c\\u002e\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u007f]+)+$";

export const maxEmailLength = 254;
const maxLocalLength = 64;

const wellFormed = new RegExp(emailPattern, "u");
const domainForm = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The address in both forms, or null for a text that is none. */
export function readEmail(text: string): EmailParts | null {
  if (text.length > maxEmailLength || !wellFormed.test(text)) return null;
  const at = text.indexOf("@");
  const local = text.slice(0, at);
  const domain = asciiDomain(text.slice(at + 1));
  if (domain === null || local.length > maxLocalLength || local.length + 1 + domain.length > maxEmailLength)
    return null;
  return { address: `${local}@${domain}`, folded: `${smallLetters(local)}@${domain}` as FoldedEmail };
}

export function foldEmail(text: string): FoldedEmail | null {
  return readEmail(text)?.folded ?? null;
}

/** Whether both are the same mailbox. Texts from before these rules that are no address are the same when they are equal. */
export function isSameEmail(one: string, other: string): boolean {
  return (foldEmail(one) ?? one) === (foldEmail(other) ?? other);
}

/** A URL's host is the one place where browsers and Node do the same IDNA mapping (UTS 46). */
function asciiDomain(text: string): string | null {
  let domain: string;
  try {
    domain = new URL(`http://${text}/`).hostname;
  } catch {
    return null;
  }
  // A host that ends in a number is read as an IPv4 address, which no domain is.
  return domainForm.test(domain) && !/\.[0-9]+$/.test(domain) ? domain : null;
}

/** ASCII only, so that no locale and no table of Unicode has a say. */
function smallLetters(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));
}

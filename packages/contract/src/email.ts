/**
 * Parses and compares e-mail addresses. Pages and the service use only this file. The database never folds
 * case, because it would differ: PostgreSQL and JavaScript lowercase `İ` in different ways.
 */

/** Key for looking up and comparing mailboxes: lower case, with the domain in its ASCII (IDNA) form. */
export type FoldedEmail = string & { readonly foldedEmail: unique symbol };

/** `address` is shown and mailed to: the local part as typed, the domain in its ASCII form. */
export type EmailParts = { address: string; folded: FoldedEmail };

/**
 * Local part: a dot-atom of ASCII. It excludes `,;<>()":\[]` and white space, which mail programs read as
 * several addresses. Domain: at least two labels of letters, digits, hyphens and non-ASCII characters.
 * Neighbouring parts share no character, so a text can match in only one way.
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

/**
 * Whether both are the same mailbox. Stored texts that predate these rules and are no address must be equal.
 */
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

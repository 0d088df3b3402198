import fc from "fast-check";

/** Any character. The library's own unit for it first builds a table of a million of them. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((value) => value < 0xd800 || value > 0xdfff)
  .map((value) => String.fromCodePoint(value));

const rest = fc.stringMatching(/^[/?#:@]?[A-Za-z0-9._~:@!$&'()*+,;=/?#%-]{0,20}$/);

/** URLs, good and bad. The library's own builds the same table. */
export const anyUrl = fc
  .tuple(fc.constantFrom("https", "http"), fc.domain(), rest)
  .map(([scheme, host, more]) => `${scheme}://${host}${more}`);

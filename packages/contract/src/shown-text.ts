/**
 * Invisible characters outside the basic plane: tags, variation selectors, shorthand and music controls, and
 * noncharacters. Other languages cannot read this notation, so published patterns leave it out.
 */
export const unseenBeyondBasic = [
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}",
  ...Array.from({ length: 16 }, (_, plane) => (plane + 1).toString(16)).map(
    (plane) => `\\u{${plane}fffe}\\u{${plane}ffff}`,
  ),
].join("");

const unseenBeyondControls = `\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff${unseenBeyondBasic}`;

/**
 * Invisible characters and those that change how others look, for use inside a character class: controls (C0,
 * C1), direction marks and overrides, line separators, fillers, zero-width characters, tags and
 * noncharacters. With U+202E, the name of one organization can read as that of another.
 * The joiners U+200C and U+200D are allowed: Persian, Indic scripts and many emoji need them, and emoji also
 * need the selectors U+FE0E and U+FE0F. They move nothing. Two names may differ only in a joiner, but names
 * are not unique anyway.
 */
export const unseenCharacters = `\\u0000-\\u001f${unseenBeyondControls}`;

/** The same for a text of several lines: tabs and line breaks are allowed. */
export const unseenInLines = `\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${unseenBeyondControls}`;

/** White space, joiners and selectors. A text must begin with another character. */
export const blankCharacters =
  "\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u200c\\u200d\\u202f\\u205f\\u2800\\u3000\\ufe0e\\ufe0f";

/**
 * Look-alikes of characters that have a meaning in a URL:
 * slashes, backslashes, dots, colons, `?`, `#` and `@`.
 */
export const urlLookAlikes =
  "\\u2024\\u2044\\u2215\\u2216\\u2236\\u2571\\u2572\\u29f5\\u29f6\\u29f8\\u29f9\\u2afb\\u2afd\\u3002\\u3033\\ufe52\\ufe55\\ufe56\\ufe5f\\ufe68\\ufe6b\\uff03\\uff0e\\uff0f\\uff1a\\uff1f\\uff20\\uff3c\\uff61";

const unseen = new RegExp(`[${unseenCharacters}]`, "gu");

/**
 * The visible part of a text that was stored before such characters were refused. Line breaks and tabs stay.
 */
export function shownText(text: string): string {
  return text.replace(unseen, (character) => (/[\n\r\t]/.test(character) ? character : ""));
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolates a right-to-left name, so that it does not reorder the sentence around it. */
export function isolated(text: string): string {
  return rightToLeft.test(text) ? `\u2068${text}\u2069` : text;
}

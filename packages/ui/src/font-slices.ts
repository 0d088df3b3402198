/**
 * The subsets of the font. A browser fetches one when the page has a character of it (`unicode-range`).
 * Western European languages need the first only, other languages one more. Arabic, and letters of no page
 * language, use the system's font.
 */
export const fontSlices = [
  {
    file: "inter-latin.woff2",
    source: "latin",
    ranges: [
      [0x20, 0x7e],
      [0xa0, 0xff],
      [0x131, 0x131],
      [0x152, 0x153],
      [0x2bc, 0x2bc],
      [0x2010, 0x2015],
      [0x2018, 0x201e],
      [0x2022, 0x2022],
      [0x2026, 0x2026],
      [0x202f, 0x202f],
      [0x2039, 0x203a],
      [0x20ac, 0x20ac],
      [0x2122, 0x2122],
      [0x2191, 0x2191],
      [0x2193, 0x2193],
      [0x2212, 0x2212],
    ],
  },
  {
    file: "inter-latin-ext.woff2",
    source: "latin-ext",
    ranges: [
      [0x100, 0x130],
      [0x132, 0x151],
      [0x154, 0x17f],
      [0x218, 0x21b],
      [0x1e80, 0x1e85],
      [0x1e9e, 0x1e9e],
      [0x1ef2, 0x1ef3],
    ],
  },
  {
    file: "inter-greek.woff2",
    source: "greek",
    ranges: [[0x384, 0x3ce]],
  },
  {
    file: "inter-cyrillic.woff2",
    source: "cyrillic",
    ranges: [
      [0x401, 0x401],
      [0x404, 0x404],
      [0x406, 0x407],
      [0x40e, 0x40e],
      [0x410, 0x44f],
      [0x451, 0x451],
      [0x454, 0x454],
      [0x456, 0x457],
      [0x45e, 0x45e],
      [0x490, 0x491],
      [0x2116, 0x2116],
    ],
  },
] as const satisfies readonly {
  file: string;
  source: string;
  ranges: readonly (readonly [from: number, to: number])[];
}[];

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, "0");

/** The rule that makes one part known by this name. */
function faceOf(name: string, folder: string, { file, ranges }: (typeof fontSlices)[number]): string {
  const range = ranges
    .map(([from, to]) => (from === to ? `U+${hex(from)}` : `U+${hex(from)}-${hex(to)}`))
    .join(", ");
  return `@font-face {
  font-family: "${name}";
  font-style: normal;
  font-weight: 400 700;
  font-display: swap;
  src: url("${folder}${file}") format("woff2");
  unicode-range: ${range};
}`;
}

/**
 * The first subset under another name, for lists in every script. In the page's font each subset would be
 * loaded for names that the reader may never see.
 */
export function latinCss(folder: string): string {
  return faceOf("Inter Latin", folder, fontSlices[0]);
}

/** The rules that name the font. `folder` is where its files are, as seen from the style sheet. */
export function fontsCss(folder: string): string {
  const faces = fontSlices.map((slice) => faceOf("Inter", folder, slice));
  // Until the font is loaded, an installed font takes its place with the same metrics, so that nothing moves.
  const standIn = `@font-face {
  font-family: "Inter Fallback";
  src: local("Arial"), local("Liberation Sans"), local("Helvetica"), local("Roboto");
  size-adjust: 107.12%;
  ascent-override: 90.44%;
  descent-override: 22.52%;
  line-gap-override: 0%;
}`;
  return [...faces, standIn].join("\n");
}

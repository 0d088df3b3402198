import { EmrtdError } from "../emrtd-error.ts";
import type { MrzFormat } from "../mrz/mrz-layout.ts";
import { parseMrzLines } from "../mrz/parse-mrz.ts";
import { ocrBOutlines } from "./ocr-b-outlines.ts";

/** Millimetres, as ICAO 9303 has them: the page, and where the zone's first line begins. */
const pages: Readonly<Record<MrzFormat, { width: number; height: number; left: number; lines: number }>> = {
  TD1: { width: 85.6, height: 54, left: 4.7, lines: 3 },
  TD2: { width: 105, height: 74, left: 6.8, lines: 2 },
  TD3: { width: 125, height: 88, left: 6.6, lines: 2 },
};
const pitch = 2.54;
const linePitch = 6.1;
const bottomMargin = 3.6;

/**
 * The data page of a test document as an SVG in millimetres. It says that it is fictional and has an invented
 * security print, so that it cannot pass for a document of a state. `portrait` is an image address or null.
 */
export function drawDataPage(mrzLines: readonly string[], at: Date, portrait: string | null): string {
  const { format, name, documentNumber, nationality, dateOfBirth, dateOfExpiry, sex } = parseMrzLines(
    mrzLines,
    at,
  );
  const page = pages[format];
  const { width, height } = page;
  const zoneTop = height - bottomMargin - page.lines * linePitch;
  const photo = {
    x: 5,
    y: 12,
    width: Math.min(32, (zoneTop - 14) * 0.78),
    height: Math.min(41, zoneTop - 14),
  };
  const left = photo.x + photo.width + 5;
  const rows: readonly (readonly [string, string])[] = [
    ["Name", `${name.primary}, ${name.secondary}`],
    ["Document number", documentNumber],
    ["Nationality", `${nationality}   ${sex}`],
    ["Date of birth", dateOfBirth.raw.replace(/(..)(..)(..)/, "$3.$2.$1")],
    ["Date of expiry", dateOfExpiry.raw.replace(/(..)(..)(..)/, "$3.$2.$1")],
  ];
  const step = (zoneTop - 14) / rows.length;
  const fields = rows.map(
    ([label, value], index) =>
      `<text x="${left}" y="${(14 + index * step).toFixed(2)}" font-size="1.9" fill="#5b6b66">${label}</text>` +
      `<text x="${left}" y="${(14 + index * step + 3.4).toFixed(2)}" font-size="3" fill="#1d2a26">${escaped(value)}</text>`,
  );
  const picture =
    portrait === null
      ? `<rect x="${photo.x}" y="${photo.y}" width="${photo.width}" height="${photo.height}" fill="#b9c8c2"/>`
      : `<image href="${escaped(portrait)}" x="${photo.x}" y="${photo.y}" width="${photo.width}" height="${photo.height}" preserveAspectRatio="xMidYMid slice"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}mm" height="${height}mm" viewBox="0 0 ${width} ${height}" font-family="sans-serif">` +
    `<rect width="${width}" height="${height}" rx="2.5" fill="#eef4f0"/>${securityPrint(width, zoneTop)}` +
    `<text x="5" y="7.5" font-size="4" font-weight="bold" fill="#24463a">TEST COUNTRY · SPECIMEN</text>` +
    `${picture}${fields.join("")}` +
    `<rect y="${zoneTop - 1}" width="${width}" height="${height - zoneTop + 1}" fill="#f7faf8"/>` +
    `${zone(mrzLines, page.left, zoneTop)}</svg>`
  );
}

/** Fine waves, as they lie under every data page. */
function securityPrint(width: number, bottom: number): string {
  const waves: string[] = [];
  for (let line = 0; line * 1.6 < bottom; line++) {
    const points: string[] = [];
    for (let x = 0; x <= width; x += 2.5)
      points.push(
        `${x},${(line * 1.6 + 1.2 * Math.sin(x / 9 + line * 0.35) + 0.6 * Math.sin(x / 3.7)).toFixed(2)}`,
      );
    waves.push(`<polyline points="${points.join(" ")}"/>`);
  }
  return `<g fill="none" stroke="#c4d8cd" stroke-width="0.18">${waves.join("")}</g>`;
}

function zone(lines: readonly string[], left: number, top: number): string {
  const scale = pitch / 100;
  const characters = lines.flatMap((line, row) =>
    [...line].map((character, column) => {
      const outline = ocrBOutlines[character];
      if (outline === undefined)
        throw new EmrtdError(
          "MRZ_INVALID",
          "The machine readable zone has a character outside of A-Z, 0-9 and <",
        );
      // Capitals are about as high as the pitch is wide, centred in their line.
      const [x, y] = [left + column * pitch, top + (row + 0.5) * linePitch + 1.25];
      return `<path transform="translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale})" d="${outline}"/>`;
    }),
  );
  return `<g fill="#111111">${characters.join("")}</g>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

import { EmrtdError } from "../emrtd-error.ts";
import { checkDigit } from "./check-digit.ts";
import { type MrzField, type MrzLayout, mrzLayouts, textOf } from "./mrz-layout.ts";
import { type Mrz, parseMrzLines } from "./parse-mrz.ts";

export type RepairedMrz = {
  readonly mrz: Mrz;
  /** How many characters differ from what was recognised, padding of the name line not counted. */
  readonly changedCharacters: number;
};

const digitForLetter: Readonly<Record<string, string>> = {
  O: "0",
  Q: "0",
  D: "0",
  U: "0",
  I: "1",
  L: "1",
  Z: "2",
  A: "4",
  S: "5",
  G: "6",
  T: "7",
  B: "8",
};

const letterForDigit: Readonly<Record<string, string>> = {
  "0": "O",
  "1": "I",
  "2": "Z",
  "4": "A",
  "5": "S",
  "6": "G",
  "7": "T",
  "8": "B",
};

/**
 * Where letters and digits may both stand, only pairs that the check digit tells apart are exchanged: G and 6, and L and 1,
 * differ by a multiple of ten and would be guesses.
 */
const exchangesOf: Readonly<Record<string, readonly string[]>> = {
  "0": ["O", "Q", "D"],
  O: ["0"],
  Q: ["0"],
  D: ["0"],
  "1": ["I"],
  I: ["1"],
  "2": ["Z"],
  Z: ["2"],
  "5": ["S"],
  S: ["5"],
  "8": ["B"],
  B: ["8"],
};

const mostExchanges = 2;

/**
 * Corrects text that a camera read from the printed zone: first by what may stand at each position, then, in the
 * document number and optional data, by the smallest exchange of lookalikes that makes the check digits agree. A zone whose
 * digits do not agree, or agree in two equally small ways, is refused: it would open no chip, or the wrong claims.
 */
export function repairMrz(recognised: string, at: Date): RepairedMrz {
  if (recognised.length > 400) throw new EmrtdError("MRZ_INVALID", "The recognised text is too long");
  const raw = recognised
    .toUpperCase()
    .replace(/[«»]/g, "<<")
    .replace(/[‹›]/g, "<")
    .split(/[\r\n]+/)
    .map((line) => line.replace(/[^A-Z0-9<]/g, ""))
    .filter((line) => line !== "");
  const fitted = fitLines(raw);
  const { layout } = fitted;
  let lines = fitted.lines;
  for (const field of [
    layout.documentCode,
    layout.issuingState,
    layout.nationality,
    layout.name,
    layout.dateOfBirth,
    layout.dateOfBirthCheck,
    layout.dateOfExpiry,
    layout.dateOfExpiryCheck,
    layout.documentNumberCheck,
    layout.optionalDataCheck,
    layout.compositeCheck,
  ]) {
    if (field !== null) lines = replaceField(lines, field, byPosition(textOf(lines, field), field));
  }
  lines = repairNumber(lines, layout);
  lines = repairOptionalData(lines, layout);
  const mrz = parseMrzLines(lines, at);
  if (!mrz.checkDigitsAgree) {
    throw new EmrtdError("MRZ_INVALID", "The check digits of the machine readable zone do not agree");
  }
  return { mrz, changedCharacters: countChanges(fitted.lines, lines) };
}

/** The name line may have lost or gained fillers at its end, which carry nothing; every other line must be whole. */
function fitLines(raw: readonly string[]): { readonly layout: MrzLayout; readonly lines: readonly string[] } {
  for (const layout of Object.values(mrzLayouts)) {
    if (raw.length !== layout.lineCount) continue;
    const lines = raw.map((line, index) => {
      if (index !== layout.name.line) return line;
      const name = line.replace(/<+$/, "");
      return name.length < line.length || line.length >= layout.lineLength
        ? name.padEnd(layout.lineLength, "<")
        : line;
    });
    if (lines.every((line) => line.length === layout.lineLength)) return { layout, lines };
  }
  throw new EmrtdError("MRZ_INVALID", "The recognised lines have the wrong number or length");
}

function replaceField(lines: readonly string[], field: MrzField, text: string): readonly string[] {
  return lines.map((line, index) =>
    index === field.line ? line.slice(0, field.start) + text + line.slice(field.end) : line,
  );
}

function byPosition(text: string, field: MrzField): string {
  const map = field.characters === "letters" ? letterForDigit : digitForLetter;
  return [...text].map((character) => map[character] ?? character).join("");
}

function repairNumber(lines: readonly string[], layout: MrzLayout): readonly string[] {
  const number = textOf(lines, layout.documentNumber);
  const check = textOf(lines, layout.documentNumberCheck);
  if (check !== "<") {
    const repaired = smallestExchange(number, (text) => checkDigit(text) === check);
    return replaceField(lines, layout.documentNumber, repaired);
  }
  if (layout.format === "TD3") return lines;
  const overflow = textOf(lines, layout.optionalData);
  const length = overflow.indexOf("<") === -1 ? overflow.length : overflow.indexOf("<");
  if (length < 2) return lines;
  const last = overflow.charAt(length - 1);
  const overflowCheck = digitForLetter[last] ?? last;
  const repaired = smallestExchange(
    number + overflow.slice(0, length - 1),
    (text) => checkDigit(text) === overflowCheck,
  );
  const withNumber = replaceField(lines, layout.documentNumber, repaired.slice(0, 9));
  return replaceField(
    withNumber,
    layout.optionalData,
    repaired.slice(9) + overflowCheck + overflow.slice(length),
  );
}

function repairOptionalData(lines: readonly string[], layout: MrzLayout): readonly string[] {
  if (layout.optionalDataCheck === null) return lines;
  const optional = textOf(lines, layout.optionalData);
  const check = textOf(lines, layout.optionalDataCheck);
  if (check === "<") return lines;
  return replaceField(
    lines,
    layout.optionalData,
    smallestExchange(optional, (text) => checkDigit(text) === check),
  );
}

function smallestExchange(text: string, agrees: (text: string) => boolean): string {
  if (agrees(text)) return text;
  let candidates: ReadonlySet<string> = new Set([text]);
  for (let exchanges = 1; exchanges <= mostExchanges; exchanges++) {
    const next = new Set<string>();
    for (const candidate of candidates) {
      for (let index = 0; index < candidate.length; index++) {
        if (candidate.charAt(index) !== text.charAt(index)) continue;
        for (const other of exchangesOf[candidate.charAt(index)] ?? []) {
          next.add(candidate.slice(0, index) + other + candidate.slice(index + 1));
        }
      }
    }
    const agreeing = [...next].filter(agrees);
    if (agreeing.length === 1) return agreeing[0] ?? text;
    if (agreeing.length > 1) {
      throw new EmrtdError("MRZ_INVALID", "The machine readable zone can be read in more than one way");
    }
    candidates = next;
  }
  throw new EmrtdError("MRZ_INVALID", "The check digits of the machine readable zone do not agree");
}

function countChanges(before: readonly string[], after: readonly string[]): number {
  let changes = 0;
  for (const [line, text] of before.entries()) {
    for (let index = 0; index < text.length; index++) {
      if (text.charAt(index) !== after[line]?.charAt(index)) changes++;
    }
  }
  return changes;
}

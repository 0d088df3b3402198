import { EmrtdError } from "../emrtd-error.ts";
import { checkDigit } from "./check-digit.ts";
import { type MrzField, type MrzLayout, mrzLayouts, textOf } from "./mrz-layout.ts";
import { compositeAgrees, type Mrz, optionalDataAgrees, parseMrzLines } from "./parse-mrz.ts";

export type RepairedMrz = {
  readonly mrz: Mrz;
  /** How many characters differ from what was recognised, padding of the name line not counted. */
  readonly changedCharacters: number;
};

/** Another character that the reader took into account, and how much less likely it is than the one that was read, in nats (natural logarithm). */
export type MrzAlternative = { readonly character: string; readonly cost: number };

/** For each position of each line what else may stand there, the likeliest first. Lines that carry nothing of a check digit may be empty. */
export type MrzDoubts = readonly (readonly (readonly MrzAlternative[])[])[];

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
export const lookalikesOf: Readonly<Record<string, readonly string[]>> = {
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
 * With a reader's own doubts: what an exchange may cost in all, and by how much the cheapest reading must beat the next. From synthetic pictures (the card of
 * packages/mrz-reader). A cost of half refuses readings that were right; of twice it lets check digits confirm what nobody saw, and wrong keys appear.
 * Half of the margin: of two readings that both agree, the wrong one is taken more often. Twice: frames are refused for nothing.
 */
const mostCost = 6;
const leastMargin = 1.5;
/**
 * What an O read for a zero costs at most in what is in no key, however sure the reader was. In the number such an exchange could give another key; here it only keeps a document in that was read. More than half of `mostCost`, so
 * that one of them may settle a zone and two may not: two make any digit agree.
 */
const lookalikeCost = 4;
/** The second and third likeliest character. One less: lookalikes of three are lost. Twice: five times as many pairs to try, and none of them likely. */
const mostAlternatives = 2;

/**
 * Corrects text that a camera read from the printed zone: first by what may stand at each position, then, in the
 * document number and optional data, by the smallest exchange of lookalikes that makes the check digits agree. A zone whose
 * digits do not agree, or agree in two equally small ways, is refused: it would open no chip, or the wrong claims.
 * A reader that knows its doubts hands them over, and they take the place of the list of lookalikes, in the dates too.
 */
export function repairMrz(recognised: string, at: Date, doubts: MrzDoubts | null = null): RepairedMrz {
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
  if (doubts === null) {
    lines = repairNumber(lines, layout);
    lines = repairOptionalData(lines, layout);
  } else lines = settleDoubts(lines, layout, doubts);
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
  const end = overflowEnd(lines, layout);
  if (end === null) return lines;
  const rest = { ...layout.optionalData, end };
  const overflow = textOf(lines, rest);
  const last = overflow.slice(-1);
  const overflowCheck = digitForLetter[last] ?? last;
  const repaired = smallestExchange(
    number + overflow.slice(0, -1),
    (text) => checkDigit(text) === overflowCheck,
  );
  return replaceFields(lines, [layout.documentNumber, rest], repaired + overflowCheck);
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

/** Each field of the key by itself, its digit included; then the rest. */
function settleDoubts(lines: readonly string[], layout: MrzLayout, doubts: MrzDoubts): readonly string[] {
  let settled = lines;
  for (const [field, check] of [
    [layout.documentNumber, layout.documentNumberCheck],
    [layout.dateOfBirth, layout.dateOfBirthCheck],
    [layout.dateOfExpiry, layout.dateOfExpiryCheck],
  ] as const) {
    if (textOf(settled, check) !== "<") settled = settleField(settled, [field, check], doubts);
    else if (field === layout.documentNumber) {
      const end = overflowEnd(settled, layout);
      if (end !== null) settled = settleField(settled, [field, { ...layout.optionalData, end }], doubts);
    }
  }
  return settleRest(settled, layout, doubts);
}

/** Where a number ends that runs on in the optional data, behind its check digit. Null for one that does not. */
function overflowEnd(lines: readonly string[], layout: MrzLayout): number | null {
  const { optionalData } = layout;
  if (layout.format === "TD3" || textOf(lines, layout.documentNumberCheck) !== "<") return null;
  const length = /^[A-Z0-9]*/.exec(textOf(lines, optionalData))?.[0].length ?? 0;
  return length < 2 ? null : optionalData.start + length;
}

/** The likeliest reading of these parts whose last character is the check digit of all before it. */
function settleField(
  lines: readonly string[],
  parts: readonly MrzField[],
  doubts: MrzDoubts,
): readonly string[] {
  const [best, next] = likeliestReadings(
    parts.map((part) => textOf(lines, part)).join(""),
    parts.flatMap(({ line, start, end }) => (doubts[line] ?? []).slice(start, end)),
    (reading) => /[0-9]$/.test(reading) && checkDigit(reading.slice(0, -1)) === reading.slice(-1),
  );
  if (next !== undefined && best !== undefined && next.cost - best.cost < leastMargin)
    throw new EmrtdError("MRZ_INVALID", "The machine readable zone can be read in more than one way");
  return replaceFields(lines, parts, best?.reading ?? "");
}

/** The fields one after the other, each as long as it is. */
function replaceFields(
  lines: readonly string[],
  fields: readonly MrzField[],
  text: string,
): readonly string[] {
  let [whole, at] = [lines, 0];
  for (const field of fields) {
    const end = at + field.end - field.start;
    whole = replaceField(whole, field, text.slice(at, end));
    at = end;
  }
  return whole;
}

/**
 * Optional data and the composite digit are no part of the key. So the likeliest reading of them that agrees is taken also where another is
 * as likely: whether the composite digit can agree with the key is all that is asked.
 */
function settleRest(lines: readonly string[], layout: MrzLayout, doubts: MrzDoubts): readonly string[] {
  const { optionalData, optionalDataCheck, secondOptionalData, compositeCheck } = layout;
  const start = overflowEnd(lines, layout) ?? optionalData.start;
  const fields = [{ ...optionalData, start }, optionalDataCheck, secondOptionalData, compositeCheck].filter(
    (field) => field !== null,
  );
  const agrees = (reading: string) => {
    const whole = replaceFields(lines, fields, reading);
    return compositeAgrees(whole, layout) && optionalDataAgrees(whole, layout);
  };
  const [best] = likeliestReadings(
    fields.map((field) => textOf(lines, field)).join(""),
    fields.flatMap(({ line, start, end }) =>
      [...(lines[line] ?? "").slice(start, end)].map((read, index) =>
        withLookalikes(read, doubts[line]?.[start + index] ?? []),
      ),
    ),
    agrees,
  );
  return replaceFields(lines, fields, best?.reading ?? "");
}

/** What else may stand there, the likeliest first; a lookalike never costs more than its due. */
function withLookalikes(read: string, others: readonly MrzAlternative[]): readonly MrzAlternative[] {
  const costs = new Map(others.map(({ character, cost }) => [character, cost]));
  for (const character of lookalikesOf[read] ?? [])
    costs.set(character, Math.min(lookalikeCost, costs.get(character) ?? lookalikeCost));
  return [...costs].map(([character, cost]) => ({ character, cost })).sort((a, b) => a.cost - b.cost);
}

type Reading = { readonly reading: string; readonly cost: number };

/** The text where it agrees, else every reading that does with one or two characters exchanged, the likeliest first; at least one. */
function likeliestReadings(
  text: string,
  alternatives: readonly (readonly MrzAlternative[])[],
  agrees: (reading: string) => boolean,
): readonly Reading[] {
  if (agrees(text)) return [{ reading: text, cost: 0 }];
  const changes = alternatives.flatMap((others, index) =>
    others
      .slice(0, mostAlternatives)
      .filter(({ cost }) => cost <= mostCost)
      .map((other) => ({ index, ...other })),
  );
  const exchanged = (reading: string, { index, character }: { index: number; character: string }) =>
    reading.slice(0, index) + character + reading.slice(index + 1);
  const found: Reading[] = [];
  for (const [order, first] of changes.entries()) {
    const once = exchanged(text, first);
    if (agrees(once)) found.push({ reading: once, cost: first.cost });
    for (const second of changes.slice(order + 1)) {
      if (second.index === first.index || first.cost + second.cost > mostCost) continue;
      const twice = exchanged(once, second);
      if (agrees(twice)) found.push({ reading: twice, cost: first.cost + second.cost });
    }
  }
  if (found.length === 0)
    throw new EmrtdError("MRZ_INVALID", "The check digits of the machine readable zone do not agree");
  return found.sort((a, b) => a.cost - b.cost);
}

function smallestExchange(text: string, agrees: (text: string) => boolean): string {
  if (agrees(text)) return text;
  let candidates: ReadonlySet<string> = new Set([text]);
  for (let exchanges = 1; exchanges <= mostExchanges; exchanges++) {
    const next = new Set<string>();
    for (const candidate of candidates) {
      for (let index = 0; index < candidate.length; index++) {
        if (candidate.charAt(index) !== text.charAt(index)) continue;
        for (const other of lookalikesOf[candidate.charAt(index)] ?? []) {
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

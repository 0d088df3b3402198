import { EmrtdError } from "../emrtd-error.ts";
import { checkDigit } from "./check-digit.ts";
import { type MrzField, type MrzFormat, type MrzLayout, mrzLayouts, textOf } from "./mrz-layout.ts";
import { compositeAgrees, type Mrz, optionalDataAgrees, parseMrzLines } from "./parse-mrz.ts";

/** Another candidate character, and how much less likely it is than the one that was read, in nats. */
export type MrzAlternative = { readonly character: string; readonly cost: number };

/** Alternatives per position of each line, likeliest first. Lines without check digits may be empty. */
export type MrzDoubts = readonly (readonly (readonly MrzAlternative[])[])[];

/**
 * Largest total cost of a correction. Larger values let check digits confirm characters that were not seen.
 */
const maxCost = 6;
/** By how much the best correction of a key field must beat the next. */
const minMargin = 1.5;
const maxAlternatives = 2;

/**
 * Corrects camera readings by check digits and the reader's doubts: at most two characters per field. Refuses
 * a zone whose check digits cannot agree, and a key field with two about equally likely corrections.
 */
export function repairMrz(read: readonly string[], format: MrzFormat, doubts: MrzDoubts, at: Date): Mrz {
  const layout = mrzLayouts[format];
  let lines = read;
  for (const [field, check] of [
    [layout.documentNumber, layout.documentNumberCheck],
    [layout.dateOfBirth, layout.dateOfBirthCheck],
    [layout.dateOfExpiry, layout.dateOfExpiryCheck],
  ] as const) {
    const end = field === layout.documentNumber ? overflowEnd(lines, layout) : null;
    const last = end === null ? check : { ...layout.optionalData, end };
    if (textOf(lines, check) === "<" && end === null) continue;
    lines = settle(lines, [field, last], doubts, minMargin, endsInItsCheckDigit);
  }
  lines = settleRest(lines, layout, doubts);
  const mrz = parseMrzLines(lines, at);
  if (!mrz.checkDigitsAgree) throw disagreement();
  return mrz;
}

const endsInItsCheckDigit = (text: string) =>
  /[0-9]$/.test(text) && checkDigit(text.slice(0, -1)) === text.slice(-1);

const disagreement = () =>
  new EmrtdError("MRZ_INVALID", "The check digits of the machine readable zone do not agree");

/**
 * Where a long document number ends in the optional data, after its check digit.
 * Null if the number fits its field.
 */
function overflowEnd(lines: readonly string[], layout: MrzLayout): number | null {
  const { optionalData } = layout;
  if (layout.format === "TD3" || textOf(lines, layout.documentNumberCheck) !== "<") return null;
  const length = /^[A-Z0-9]*/.exec(textOf(lines, optionalData))?.[0].length ?? 0;
  return length < 2 ? null : optionalData.start + length;
}

/** Optional data are not part of the key, so any reading that agrees with the composite digit is accepted. */
function settleRest(lines: readonly string[], layout: MrzLayout, doubts: MrzDoubts): readonly string[] {
  const { optionalData, optionalDataCheck, secondOptionalData, compositeCheck } = layout;
  const start = overflowEnd(lines, layout) ?? optionalData.start;
  const fields = [{ ...optionalData, start }, optionalDataCheck, secondOptionalData, compositeCheck].filter(
    (field) => field !== null,
  );
  return settle(lines, fields, doubts, 0, (text) => {
    const whole = replaceFields(lines, fields, text);
    return compositeAgrees(whole, layout) && optionalDataAgrees(whole, layout);
  });
}

type Correction = { readonly text: string; readonly cost: number };

/** The lines with the likeliest reading of these fields that agrees. */
function settle(
  lines: readonly string[],
  fields: readonly MrzField[],
  doubts: MrzDoubts,
  margin: number,
  agrees: (text: string) => boolean,
): readonly string[] {
  const text = fields.map((field) => textOf(lines, field)).join("");
  if (agrees(text)) return lines;
  const changes = fields
    .flatMap(({ line, start, end }) =>
      Array.from({ length: end - start }, (_, n) => doubts[line]?.[start + n]),
    )
    .flatMap((others, index) =>
      (others ?? [])
        .slice(0, maxAlternatives)
        .filter(({ cost }) => cost <= maxCost)
        .map((other) => ({ index, ...other })),
    );
  const changed = (from: string, { index, character }: (typeof changes)[number]) =>
    from.slice(0, index) + character + from.slice(index + 1);
  const found: Correction[] = [];
  for (const [order, first] of changes.entries()) {
    const once = changed(text, first);
    if (agrees(once)) found.push({ text: once, cost: first.cost });
    for (const second of changes.slice(order + 1)) {
      const cost = first.cost + second.cost;
      if (second.index === first.index || cost > maxCost) continue;
      const twice = changed(once, second);
      if (agrees(twice)) found.push({ text: twice, cost });
    }
  }
  const [best, next] = found.sort((a, b) => a.cost - b.cost);
  if (best === undefined) throw disagreement();
  if (next !== undefined && next.cost - best.cost < margin)
    throw new EmrtdError("MRZ_INVALID", "The machine readable zone can be read in more than one way");
  return replaceFields(lines, fields, best.text);
}

/** Replaces the fields in order, each in its length. */
function replaceFields(
  lines: readonly string[],
  fields: readonly MrzField[],
  text: string,
): readonly string[] {
  let [whole, at] = [lines, 0];
  for (const { line, start, end } of fields) {
    const part = text.slice(at, at + end - start);
    whole = whole.map((row, index) => (index === line ? row.slice(0, start) + part + row.slice(end) : row));
    at += end - start;
  }
  return whole;
}

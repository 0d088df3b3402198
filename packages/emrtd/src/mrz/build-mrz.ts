import { EmrtdError } from "../emrtd-error.ts";
import { checkDigit } from "./check-digit.ts";
import { maxDocumentNumberLength } from "./mrz-key.ts";
import { type MrzField, type MrzFormat, mrzLayouts, textOf } from "./mrz-layout.ts";

export type MrzContent = {
  readonly format: MrzFormat;
  readonly documentCode: string;
  readonly issuingState: string;
  readonly nationality: string;
  readonly documentNumber: string;
  /** YYMMDD; unknown parts as fillers. */
  readonly dateOfBirth: string;
  readonly dateOfExpiry: string;
  readonly sex: "F" | "M" | "X";
  /** In the letters of the zone; spaces and hyphens become fillers, apostrophes vanish. */
  readonly primaryName: string;
  readonly secondaryName?: string;
  readonly optionalData?: string;
  readonly secondOptionalData?: string;
  /** The character at position 43 of a passport without optional data. */
  readonly emptyOptionalCheck?: "<" | "0";
};

/** The lines of a machine readable zone, check digits included. */
export function buildMrz(content: MrzContent): readonly string[] {
  const layout = mrzLayouts[content.format];
  const lines = Array.from({ length: layout.lineCount }, () => "<".repeat(layout.lineLength));
  const put = (at: MrzField, text: string, what: string) => {
    if (text.length > at.end - at.start) throw new EmrtdError("BUILD_INVALID", `The ${what} is too long`);
    if (!/^[A-Z0-9<]*$/.test(text)) {
      throw new EmrtdError("BUILD_INVALID", `The ${what} has a character outside of A-Z, 0-9 and <`);
    }
    const line = lines[at.line] ?? "";
    lines[at.line] = line.slice(0, at.start) + text.padEnd(at.end - at.start, "<") + line.slice(at.end);
  };

  put(layout.documentCode, content.documentCode, "document code");
  put(layout.issuingState, content.issuingState, "issuing state");
  put(layout.nationality, content.nationality, "nationality");
  put(layout.sex, content.sex === "X" ? "<" : content.sex, "sex");
  put(layout.name, nameField(content, layout.name.end - layout.name.start), "name");

  const number = content.documentNumber;
  if (!/^[A-Z0-9](?:[A-Z0-9<]*[A-Z0-9])?$/.test(number)) {
    throw new EmrtdError("BUILD_INVALID", "The document number must be letters and digits");
  }
  const optionalData = content.optionalData ?? "";
  if (number.length <= 9) {
    put(layout.documentNumber, number, "document number");
    put(layout.documentNumberCheck, checkDigit(number), "check digit");
    put(layout.optionalData, optionalData, "optional data");
  } else {
    if (content.format === "TD3" || number.length > maxDocumentNumberLength || number.includes("<")) {
      throw new EmrtdError("BUILD_INVALID", "The document number is too long");
    }
    put(layout.documentNumber, number.slice(0, 9), "document number");
    const overflow = `${number.slice(9)}${checkDigit(number)}`;
    const separated = optionalData === "" ? overflow : `${overflow}<${optionalData}`;
    put(layout.optionalData, separated, "document number with the optional data");
  }
  if (layout.optionalDataCheck !== null) {
    const digit = optionalData === "" ? (content.emptyOptionalCheck ?? "<") : checkDigit(optionalData);
    put(layout.optionalDataCheck, digit, "check digit");
  }
  if (layout.secondOptionalData !== null) {
    put(layout.secondOptionalData, content.secondOptionalData ?? "", "optional data");
  }
  for (const [date, at, check, what] of [
    [content.dateOfBirth, layout.dateOfBirth, layout.dateOfBirthCheck, "date of birth"],
    [content.dateOfExpiry, layout.dateOfExpiry, layout.dateOfExpiryCheck, "date of expiry"],
  ] as const) {
    if (!/^[0-9<]{6}$/.test(date)) throw new EmrtdError("BUILD_INVALID", `The ${what} must be YYMMDD`);
    put(at, date, what);
    put(check, checkDigit(date), "check digit");
  }
  put(
    layout.compositeCheck,
    checkDigit(layout.composite.map((part) => textOf(lines, part)).join("")),
    "check digit",
  );
  return lines;
}

function nameField(content: MrzContent, width: number): string {
  const primary = nameLetters(content.primaryName);
  const secondary = nameLetters(content.secondaryName ?? "");
  if (primary === "") throw new EmrtdError("BUILD_INVALID", "The name is missing");
  const whole = secondary === "" ? primary : `${primary}<<${secondary}`;
  if (whole.length <= width) return whole;
  // At least the initial of the secondary name must remain.
  const head = secondary === "" ? primary : primary.slice(0, width - 3).replace(/<+$/, "");
  return cutToLetter(secondary === "" ? head : `${head}<<${secondary}`, width);
}

/** A filler at the cut would hide the truncation, so the word before it loses its last letter. */
function cutToLetter(name: string, width: number): string {
  if (name.charAt(width - 1) !== "<") return name.slice(0, width);
  for (let last = width - 2; last > 0; last--) {
    if (name.charAt(last) === "<" || name.charAt(last - 1) === "<") continue;
    const cut = (name.slice(0, last) + name.slice(last + 1)).slice(0, width);
    if (!cut.endsWith("<")) return cut;
  }
  throw new EmrtdError("BUILD_INVALID", "The name cannot be cut to its field");
}

function nameLetters(name: string): string {
  const letters = name
    .toUpperCase()
    .replace(/['’.]/g, "")
    .replace(/[\s,-]+/g, "<")
    .replace(/^<+|<+$/g, "");
  if (!/^[A-Z<]*$/.test(letters)) {
    throw new EmrtdError("BUILD_INVALID", "The name must be transliterated to A-Z before it can be printed");
  }
  return letters;
}

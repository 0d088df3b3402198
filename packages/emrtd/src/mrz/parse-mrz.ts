import { fromLatin1 } from "../bytes.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { checkDigit } from "./check-digit.ts";
import { isEndless } from "./end-of-validity.ts";
import { type MrzDate, readDateOfBirth, readDateOfExpiry } from "./mrz-date.ts";
import type { MrzKeyFields } from "./mrz-key.ts";
import { layoutForLength, type MrzFormat, type MrzLayout, textOf } from "./mrz-layout.ts";

type MrzName = {
  /** Usually the family name. Fillers have become spaces; the transliteration is the issuer's and stays. */
  readonly primary: string;
  readonly secondary: string;
  /** The name fills its field to the last character, so the issuer may have had to cut it. */
  readonly mayBeTruncated: boolean;
};

type MrzCheckDigits = {
  readonly documentNumber: boolean;
  readonly dateOfBirth: boolean;
  readonly dateOfExpiry: boolean;
  /** True in TD1 and TD2, which have no such digit. */
  readonly optionalData: boolean;
  readonly composite: boolean;
};

export type Mrz = {
  readonly format: MrzFormat;
  /** The lines of the zone. */
  readonly lines: readonly string[];
  /** One or two letters, without fillers: P, ID, AC. */
  readonly documentCode: string;
  /** As in the zone, without fillers; Germany is D. */
  readonly issuingState: string;
  readonly nationality: string;
  /** Whole, also when it runs over into the optional data. */
  readonly documentNumber: string;
  readonly dateOfBirth: MrzDate;
  /** Without a year if the document does not expire, or does not say when. */
  readonly dateOfExpiry: MrzDate;
  /** By the rules of `end-of-validity.ts`. */
  readonly endless: boolean;
  /** X is the filler, which means unspecified. */
  readonly sex: "F" | "M" | "X";
  readonly name: MrzName;
  /** Without the overflow of a long document number. */
  readonly optionalData: string;
  readonly secondOptionalData: string;
  readonly checkDigits: MrzCheckDigits;
  readonly checkDigitsAgree: boolean;
};

/** The zone as one text, with or without line breaks, or as the bytes of DG1. `at` decides the centuries. */
export function parseMrz(input: string | Uint8Array, at: Date): Mrz {
  return parseMrzLines(splitLines(typeof input === "string" ? input : fromLatin1(input)), at);
}

function splitLines(text: string): readonly string[] {
  if (text.length > 200) throw new EmrtdError("MRZ_INVALID", "The machine readable zone is too long");
  const joined = text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, "") : text;
  const layout = layoutForLength(joined.length);
  if (layout === null) {
    throw new EmrtdError("MRZ_INVALID", "The machine readable zone must have 72, 88 or 90 characters");
  }
  const lines: string[] = [];
  for (let start = 0; start < joined.length; start += layout.lineLength)
    lines.push(joined.slice(start, start + layout.lineLength));
  return lines;
}

function layoutOf(lines: readonly string[]): MrzLayout {
  let characters = 0;
  for (const line of lines) characters += line.length;
  const layout = layoutForLength(characters);
  if (layout === null || lines.some((line) => line.length !== layout.lineLength)) {
    throw new EmrtdError("MRZ_INVALID", "The lines of the machine readable zone have the wrong length");
  }
  return layout;
}

export function parseMrzLines(lines: readonly string[], at: Date): Mrz {
  const layout = layoutOf(lines);
  if (!lines.every((line) => /^[A-Z0-9<]+$/.test(line))) {
    throw new EmrtdError(
      "MRZ_INVALID",
      "The machine readable zone has a character outside of A-Z, 0-9 and <",
    );
  }
  const documentCode = trimmed(textOf(lines, layout.documentCode));
  if (!/^[A-Z][A-Z0-9]?$/.test(documentCode))
    throw new EmrtdError("MRZ_INVALID", "The document code is missing");
  if (documentCode.startsWith("V"))
    throw new EmrtdError("MRZ_INVALID", "A machine readable visa has no chip");
  const key = keyOf(lines, layout);
  const checkDigits = compareCheckDigits(lines, layout, key);
  const issuingState = state(textOf(lines, layout.issuingState), "issuing state");
  const endless = isEndless({
    format: layout.format,
    documentCode,
    issuingState,
    rawExpiry: key.dateOfExpiry,
  });
  const dateOfExpiry = readDateOfExpiry(key.dateOfExpiry, at);
  return {
    format: layout.format,
    lines,
    documentCode,
    issuingState,
    nationality: state(textOf(lines, layout.nationality), "nationality"),
    documentNumber: key.documentNumber,
    dateOfBirth: readDateOfBirth(key.dateOfBirth, at),
    dateOfExpiry: endless
      ? { raw: dateOfExpiry.raw, year: null, month: null, day: null, otherYears: [] }
      : dateOfExpiry,
    endless,
    sex: readSex(textOf(lines, layout.sex)),
    name: readName(textOf(lines, layout.name)),
    optionalData: key.optionalData,
    secondOptionalData:
      layout.secondOptionalData === null ? "" : trimmed(textOf(lines, layout.secondOptionalData)),
    checkDigits,
    checkDigitsAgree:
      checkDigits.documentNumber &&
      checkDigits.dateOfBirth &&
      checkDigits.dateOfExpiry &&
      checkDigits.optionalData &&
      checkDigits.composite,
  };
}

/** The key of the chip, from the same parsed zone as the claims. */
export function keyFieldsOf(mrz: Mrz): MrzKeyFields {
  return {
    documentNumber: mrz.documentNumber,
    dateOfBirth: mrz.dateOfBirth.raw,
    dateOfExpiry: mrz.dateOfExpiry.raw,
  };
}

const filler = 0x3c;

function trimmed(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === filler) end--;
  return text.slice(0, end);
}

type KeyReading = MrzKeyFields & {
  readonly documentNumberCheck: string;
  readonly optionalData: string;
};

function keyOf(lines: readonly string[], layout: MrzLayout): KeyReading {
  const short = textOf(lines, layout.documentNumber);
  const check = textOf(lines, layout.documentNumberCheck);
  const optional = textOf(lines, layout.optionalData);
  const dates = {
    dateOfBirth: textOf(lines, layout.dateOfBirth),
    dateOfExpiry: textOf(lines, layout.dateOfExpiry),
  };
  // A filler instead of the check digit means that the number continues in the optional data, up to the next
  // filler. Its check digit is the last character before that filler.
  const mayOverflow = layout.format !== "TD3" && check === "<" && !short.includes("<");
  const overflow = mayOverflow ? /^([A-Z0-9]{1,13})([0-9])(?:<|$)/.exec(optional) : null;
  if (overflow !== null) {
    const [whole, rest = "", overflowCheck = ""] = overflow;
    return {
      ...dates,
      documentNumber: short + rest,
      documentNumberCheck: overflowCheck,
      optionalData: trimmed(optional.slice(whole.length)),
    };
  }
  const documentNumber = trimmed(short);
  if (documentNumber === "") throw new EmrtdError("MRZ_INVALID", "The document number is missing");
  return { ...dates, documentNumber, documentNumberCheck: check, optionalData: trimmed(optional) };
}

function compareCheckDigits(lines: readonly string[], layout: MrzLayout, key: KeyReading): MrzCheckDigits {
  return {
    documentNumber: checkDigit(key.documentNumber) === key.documentNumberCheck,
    dateOfBirth: dateCheckAgrees(key.dateOfBirth, textOf(lines, layout.dateOfBirthCheck)),
    dateOfExpiry: dateCheckAgrees(key.dateOfExpiry, textOf(lines, layout.dateOfExpiryCheck)),
    optionalData: optionalDataAgrees(lines, layout),
    composite: compositeAgrees(lines, layout),
  };
}

export function optionalDataAgrees(lines: readonly string[], layout: MrzLayout): boolean {
  if (layout.optionalDataCheck === null) return true;
  const [optional, check] = [textOf(lines, layout.optionalData), textOf(lines, layout.optionalDataCheck)];
  // An issuer that uses no optional data may leave its check digit a filler.
  return checkDigit(optional) === check || (check === "<" && trimmed(optional) === "");
}

export function compositeAgrees(lines: readonly string[], layout: MrzLayout): boolean {
  return (
    checkDigit(...layout.composite.map((part) => textOf(lines, part))) ===
    textOf(lines, layout.compositeCheck)
  );
}

/** For an unknown date or no end of validity, some issuers fill the check digit as well. */
function dateCheckAgrees(date: string, check: string): boolean {
  return checkDigit(date) === check || (date === "<<<<<<" && check === "<");
}

function state(text: string, what: string): string {
  const code = trimmed(text);
  if (!/^[A-Z]{1,3}$/.test(code))
    throw new EmrtdError("MRZ_INVALID", `The ${what} must be one to three letters`);
  return code;
}

function readSex(text: string): "F" | "M" | "X" {
  if (text === "F" || text === "M" || text === "X") return text;
  if (text === "<") return "X";
  throw new EmrtdError("MRZ_INVALID", "The sex must be F, M, X or a filler");
}

function readName(text: string): MrzName {
  const name = trimmed(text);
  const split = name.indexOf("<<");
  const words = (part: string) => (part.includes("<") ? part.replace(/<+/g, " ").trim() : part);
  return {
    primary: words(split === -1 ? name : name.slice(0, split)),
    secondary: words(split === -1 ? "" : name.slice(split)),
    mayBeTruncated: name.length === text.length,
  };
}

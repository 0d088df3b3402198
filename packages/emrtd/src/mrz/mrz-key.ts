import { EmrtdError } from "../emrtd-error.ts";
import { checkDigit } from "./check-digit.ts";

/** Nine characters in the number's own field, thirteen in the optional data of TD1. */
export const maxDocumentNumberLength = 22;

/** The three fields of the zone that open the chip. */
export type MrzKeyFields = {
  /** The whole number, also when it is longer than nine characters. Fillers at the end do not matter. */
  readonly documentNumber: string;
  /** YYMMDD, unknown parts as fillers. */
  readonly dateOfBirth: string;
  readonly dateOfExpiry: string;
};

/** Typed input. Dates are YYYY-MM-DD or YYMMDD; spaces and hyphens in the number do not matter. */
type TypedKeyFields = {
  readonly documentNumber: string;
  readonly dateOfBirth: string;
  readonly dateOfExpiry: string;
};

/**
 * The MRZ_information of ICAO 9303-11, 4.3.2: number, birth and expiry, each with its check digit. Its SHA-1
 * is the seed of the basic access keys, and the password of PACE.
 */
export function mrzInformation(fields: MrzKeyFields): string {
  const number = fields.documentNumber.replace(/<+$/, "").padEnd(9, "<");
  if (!/^[A-Z0-9<]+$/.test(number) || number.startsWith("<") || number.length > maxDocumentNumberLength) {
    throw new EmrtdError("MRZ_INVALID", "The document number cannot stand in a machine readable zone");
  }
  for (const [what, date] of [
    ["date of birth", fields.dateOfBirth],
    ["date of expiry", fields.dateOfExpiry],
  ] as const) {
    if (!/^[0-9<]{6}$/.test(date))
      throw new EmrtdError("MRZ_INVALID", `The ${what} must be six digits or fillers`);
  }
  return [number, fields.dateOfBirth, fields.dateOfExpiry].map((text) => text + checkDigit(text)).join("");
}

/** Turns what a person typed into fields of the zone, or says which of the three is wrong. */
export function keyFieldsFromTyped(typed: TypedKeyFields): MrzKeyFields {
  const documentNumber = typed.documentNumber.replace(/[\s\-./]+/g, "").toUpperCase();
  if (!/^[A-Z0-9][A-Z0-9<]*$/.test(documentNumber) || documentNumber.length > maxDocumentNumberLength) {
    throw new EmrtdError("MRZ_INVALID", "The document number must be letters and digits");
  }
  return {
    documentNumber,
    dateOfBirth: typedDate(typed.dateOfBirth, "date of birth"),
    dateOfExpiry: typedDate(typed.dateOfExpiry, "date of expiry"),
  };
}

function typedDate(text: string, what: string): string {
  const trimmed = text.trim();
  const match = /^(?:\d{2})?(\d{2}|<<)-?(\d{2}|<<)-?(\d{2}|<<)$/.exec(trimmed);
  const [, year = "", month = "", day = ""] = match ?? [];
  if (match === null || Number(month.replace("<<", "0")) > 12 || Number(day.replace("<<", "0")) > 31) {
    throw new EmrtdError("MRZ_INVALID", `The ${what} must be written as YYYY-MM-DD`);
  }
  return year + month + day;
}

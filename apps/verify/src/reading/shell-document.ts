import type { ChipSource } from "@assay/device/drive-device";
import { openDocument } from "@assay/device/open-document";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { checkDigit } from "@assay/emrtd/mrz/check-digit";
import { keyFieldsFromTyped } from "@assay/emrtd/mrz/mrz-key";
import type { AccessKey } from "@assay/emrtd/reader/open-chip";
import type { ShellTransport } from "./chip-transport.ts";

/** The document in front of the shell's own reader. */
export function shellSource(transport: ShellTransport, key: AccessKey): ChipSource {
  return (onStep) =>
    openDocument(
      transport,
      key,
      (step) => {
        onStep(step);
        transport.showProgress?.(step);
      },
      () => transport.cancel(),
      stillLooking,
    );
}

/** The chip left the field, and the phone's own dialogue is open and looks for it. */
function stillLooking(error: unknown): boolean {
  if (!isEmrtdError(error) || error.code !== "CHIP_LOST") return false;
  const { cause } = error;
  return typeof cause === "object" && cause !== null && "reason" in cause && cause.reason === "left";
}

export type TypedAccess = {
  by: "mrz" | "can";
  documentNumber: string;
  dateOfBirth: string;
  dateOfExpiry: string;
  can: string;
};

export type AccessField = "documentNumber" | "dateOfBirth" | "dateOfExpiry" | "can";
export type AccessMistake = "shape" | "check_digit";

/** The key that opens the chip, or which of the typed fields cannot be right. */
export function accessKeyOf(
  typed: TypedAccess,
): { key: AccessKey } | { mistakes: Partial<Record<AccessField, AccessMistake>> } {
  if (typed.by === "can") {
    const can = typed.can.replace(/\s+/g, "");
    return /^\d{6}$/.test(can) ? { key: { can } } : { mistakes: { can: "shape" } };
  }
  const mistakes: Partial<Record<AccessField, AccessMistake>> = {};
  const documentNumber = withoutCheckDigit(typed.documentNumber);
  if (documentNumber === null) mistakes.documentNumber = "check_digit";
  // Each field is tried beside two that are known to be right, so that every mistake is named at once.
  const right = { documentNumber: "A", dateOfBirth: "2000-01-01", dateOfExpiry: "2000-01-01" };
  for (const field of ["documentNumber", "dateOfBirth", "dateOfExpiry"] as const) {
    try {
      keyFieldsFromTyped({ ...right, [field]: typed[field] });
    } catch {
      mistakes[field] ??= "shape";
    }
  }
  if (Object.keys(mistakes).length > 0 || documentNumber === null) return { mistakes };
  return { key: { mrz: keyFieldsFromTyped({ ...typed, documentNumber }) } };
}

/**
 * Somebody who copies the machine-readable line types ten characters: nine of the number, padded, and its check digit. With
 * fillers or exactly in that shape the digit must fit, and is left off. Null when it does not.
 */
function withoutCheckDigit(typed: string): string | null {
  const text = typed.replace(/[\s\-./]+/g, "").toUpperCase();
  const match = /^([A-Z0-9<]{8}<)(\d)$/.exec(text);
  if (match === null) return typed;
  const [, number = "", digit] = match;
  return checkDigit(number) === digit ? number.replace(/<+$/, "") : null;
}

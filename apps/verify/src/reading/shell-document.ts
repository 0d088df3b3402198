import type { ReadStep } from "@assay/device/device-state";
import type { ChipSource } from "@assay/device/drive-device";
import { openDocument } from "@assay/device/open-document";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { checkDigit } from "@assay/emrtd/mrz/check-digit";
import { keyFieldsFromTyped } from "@assay/emrtd/mrz/mrz-key";
import type { AccessKey } from "@assay/emrtd/reader/open-chip";
import type { ShellTransport } from "../device/chip-transport.ts";

/**
 * The document at the shell's reader.
 * A shell waits for a chip, so after a slip the reading continues where it was.
 */
export function shellSource(transport: ShellTransport, key: AccessKey): ChipSource {
  const release = () => transport.cancel();
  return async (onStep) => {
    const report = (step: ReadStep) => {
      onStep(step);
      transport.showProgress?.(step);
    };
    const opened = await felt(transport, () =>
      openDocument(transport, key, report, release, {
        waitsForReturn: (lost) => [null, "left"].includes(reasonOf(lost)),
        comesBack: (error) => isEmrtdError(error) && error.code === "CHIP_LOST" && reasonOf(error) === "left",
      }),
    );
    const readFiles = async () => {
      const files = await felt(transport, () => opened.readFiles());
      transport.feel?.("read");
      return files;
    };
    return { ...opened, readFiles };
  };
}

/**
 * Why the chip is gone, as far as the shell reports it:
 * `left` if its dialogue is open and still looks for it.
 */
function reasonOf({ cause }: Error): string | null {
  const isTold = typeof cause === "object" && cause !== null && "reason" in cause;
  return isTold && typeof cause.reason === "string" ? cause.reason : null;
}

async function felt<T>(transport: ShellTransport, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    transport.feel?.("problem");
    throw error;
  }
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
 * A person who copies the machine-readable line types ten characters: nine of the padded number, and its
 * check digit. With fillers or exactly in that shape the digit must fit, and is dropped. Null if it does not
 * fit.
 */
function withoutCheckDigit(typed: string): string | null {
  const text = typed.replace(/[\s\-./]+/g, "").toUpperCase();
  const match = /^([A-Z0-9<]{8}<)(\d)$/.exec(text);
  if (match === null) return typed;
  const [, number = "", digit] = match;
  return checkDigit(number) === digit ? number.replace(/<+$/, "") : null;
}

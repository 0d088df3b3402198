import { isoDate, readDateOfBirth, readDateOfExpiry } from "@assay/emrtd/mrz/mrz-date";
import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import type { TypedAccess } from "./shell-document.ts";

/**
 * The scanned key as a person would type it, so that it can be corrected.
 * A date with unknown parts has no field.
 */
export function typedFrom(key: MrzKeyFields, at: Date): TypedAccess {
  return {
    by: "mrz",
    documentNumber: key.documentNumber.replace(/<+$/, ""),
    dateOfBirth: isoDate(readDateOfBirth(key.dateOfBirth, at)) ?? "",
    dateOfExpiry: isoDate(readDateOfExpiry(key.dateOfExpiry, at)) ?? "",
    can: "",
  };
}

import { isoDate, readDateOfBirth, readDateOfExpiry } from "@assay/emrtd/mrz/mrz-date";
import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import type { TypedAccess } from "./shell-document.ts";

/**
 * What was read, as a person would have typed it, so that it can be corrected by hand. A date with unknown parts has no
 * field to stand in.
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

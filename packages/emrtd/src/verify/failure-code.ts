import { type CheckName, failedCheckOf, type Report } from "./report.ts";

/** Why a document was refused, as reported to partners. */
export type DocumentFailureCode =
  | "document_data_invalid"
  | "document_authenticity_failed"
  | "document_expired"
  | "document_chip_authentication_failed"
  | "document_active_authentication_failed";

const failureCodes: Readonly<Record<CheckName, DocumentFailureCode>> = {
  structure: "document_data_invalid",
  sod_signature: "document_authenticity_failed",
  signer_certificate: "document_authenticity_failed",
  chain: "document_authenticity_failed",
  signer_validity_at_signing: "document_authenticity_failed",
  revocation: "document_authenticity_failed",
  data_group_hashes: "document_authenticity_failed",
  undeclared_groups: "document_authenticity_failed",
  country_agreement: "document_authenticity_failed",
  document_expiry: "document_expired",
  chip_authentication: "document_chip_authentication_failed",
  active_authentication: "document_active_authentication_failed",
  chip_authentication_mapping: "document_chip_authentication_failed",
};

/** Null when no check failed. */
export function failureCodeOf(report: Report): DocumentFailureCode | null {
  const failed = failedCheckOf(report);
  return failed === null ? null : failureCodes[failed.name];
}

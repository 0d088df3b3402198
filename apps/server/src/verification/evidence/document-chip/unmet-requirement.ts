import type { RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import { type Report, revocationOf } from "@assay/emrtd/verify/report";
import type { Requirements } from "../kind.ts";

/** What a document that cannot meet a requirement fails with. */
export const unmetFailureCodes: Readonly<Record<RequirementName, FailureCode>> = {
  clone_detection: "document_chip_authentication_failed",
  revocation: "document_authenticity_failed",
};

/**
 * The first requirement, in the order of the checks, that a document without a failed check does not meet, or
 * null. While a chip's proof is pending it may still meet them: call again afterwards.
 */
export function unmetRequirement(report: Report, requirements: Requirements): RequirementName | null {
  if (requirements.revocation === "required" && revocationOf(report) !== "checked") return "revocation";
  if (requirements.clone_detection === "required" && report.level === "chip_clonable")
    return "clone_detection";
  return null;
}

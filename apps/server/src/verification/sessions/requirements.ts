import { type RequirementName, requirementNames } from "@assay/contract/facts";
import type { Demand, FailureCode } from "@assay/contract/sessions";

/** What the partner demands of the document. Only what is required is stored: a name that is absent is preferred. */
export type Requirements = Readonly<Partial<Record<RequirementName, "required">>>;

export function requirementsOf(asked: Readonly<Partial<Record<RequirementName, Demand>>>): Requirements {
  return Object.fromEntries(
    requirementNames.filter((name) => asked[name] === "required").map((name) => [name, "required"]),
  );
}

export function demandsOf(requirements: Requirements): Record<RequirementName, Demand> {
  return {
    clone_detection: requirements.clone_detection ?? "preferred",
    revocation: requirements.revocation ?? "preferred",
  };
}

/** What a document that cannot meet a requirement fails with. */
export const unmetFailureCodes: Readonly<Record<RequirementName, FailureCode>> = {
  clone_detection: "document_chip_authentication_failed",
  revocation: "document_authenticity_failed",
};

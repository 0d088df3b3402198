import { type DemandName, demandNames, type RequirementName } from "@assay/contract/facts";
import type { Demand, FailureCode } from "@assay/contract/sessions";

/** What the partner demands. Only what is required is stored: a name that is absent is preferred. */
export type Requirements = Readonly<Partial<Record<DemandName, "required">>>;

export function requirementsOf(asked: Readonly<Partial<Record<DemandName, Demand>>>): Requirements {
  return Object.fromEntries(
    demandNames.filter((name) => asked[name] === "required").map((name) => [name, "required"]),
  );
}

export function demandsOf(requirements: Requirements): Record<DemandName, Demand> {
  return {
    clone_detection: requirements.clone_detection ?? "preferred",
    revocation: requirements.revocation ?? "preferred",
    binding: requirements.binding ?? "preferred",
  };
}

/** What a document that cannot meet a requirement fails with. */
export const unmetFailureCodes: Readonly<Record<RequirementName, FailureCode>> = {
  clone_detection: "document_chip_authentication_failed",
  revocation: "document_authenticity_failed",
};

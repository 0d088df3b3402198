import { type DemandName, demandNames } from "@assay/contract/facts";
import type { Demand } from "@assay/contract/sessions";
import type { Requirements } from "../evidence/kind.ts";

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

import type { RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";

export type Passed = { failureCode: null };
export type Rejected = {
  failureCode: FailureCode;
  /** They say more than the code, for the audit log. */
  reasons?: readonly string[];
  /** The document is genuine but cannot meet this requirement of the partner. */
  unmetRequirement?: RequirementName;
};
export type TryVerdict = Passed | Rejected;

/** The part of a verdict that partner, person and device see. */
export function viewVerdict(verdict: TryVerdict): {
  failure_code: FailureCode | null;
  unmet_requirement: RequirementName | null;
} {
  if (verdict.failureCode === null) return { failure_code: null, unmet_requirement: null };
  return { failure_code: verdict.failureCode, unmet_requirement: verdict.unmetRequirement ?? null };
}

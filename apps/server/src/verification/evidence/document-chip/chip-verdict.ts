import type { DocumentFailureCode } from "@assay/emrtd/verify/failure-code";
import type { Report } from "@assay/emrtd/verify/report";
import type { Requirements } from "../kind.ts";
import type { TryVerdict } from "../verdict.ts";
import { claimRefusal } from "./claims.ts";
import { unmetFailureCodes, unmetRequirement } from "./unmet-requirement.ts";

/** The verdict so far: a failed check, a chosen field that cannot be read, or an unmet requirement. */
export function chipVerdict(
  {
    failureCode,
    content,
    report,
  }: { failureCode: DocumentFailureCode | null; content: Uint8Array | null; report: Report },
  asked: { selectedFieldKeys: readonly string[]; requirements: Requirements },
  now: Date,
): TryVerdict {
  if (failureCode !== null) return { failureCode };
  const refusal = content === null ? null : claimRefusal(content, asked.selectedFieldKeys, now);
  // The contract has no failure code for a document that lacks a requested value.
  if (refusal !== null) return { failureCode: "document_data_invalid", reasons: [refusal.reason] };
  const unmet = unmetRequirement(report, asked.requirements);
  if (unmet === null) return { failureCode: null };
  return { failureCode: unmetFailureCodes[unmet], unmetRequirement: unmet };
}

import { type Requirements, unmetFailureCodes } from "../sessions/requirements.ts";
import type { DocumentCheck } from "./chip-task.ts";
import { claimRefusal } from "./claims.ts";
import type { TryVerdict } from "./try.ts";
import { unmetRequirement } from "./unmet-requirement.ts";

/** What the checks so far come to for this session: what was found wrong, what cannot be told, what was demanded and is not possible. */
export function chipVerdict(
  { failureCode, content, report }: Pick<DocumentCheck, "failureCode" | "content" | "report">,
  asked: { selectedFieldKeys: readonly string[]; requirements: Requirements },
  now: Date,
): TryVerdict {
  if (failureCode !== null) return { failureCode };
  const refusal = content === null ? null : claimRefusal(content, asked.selectedFieldKeys, now);
  // The contract has no code of its own for a document that does not say what was asked for.
  if (refusal !== null) return { failureCode: "document_data_invalid", reasons: [refusal.reason] };
  const unmet = unmetRequirement(report, asked.requirements);
  if (unmet === null) return { failureCode: null };
  return { failureCode: unmetFailureCodes[unmet], unmetRequirement: unmet };
}

import { requirementNames, triesAllowed } from "@assay/contract/facts";
import { isClaimKey } from "../claim-keys.ts";
import type { Kind } from "../kind.ts";
import { claimsOf } from "./claims.ts";
import { evidenceOf } from "./evidence.ts";
import { type DocumentChipProof, overwriteProof } from "./proof.ts";
import { type RiskFacts, riskScore } from "./risk-score.ts";

/** The chip of a document is read and checked, then the person's face is compared with its portrait. */
export const documentChip = {
  methods: ["document_chip"],
  steps: [
    {
      name: "chip",
      maxTries: triesAllowed,
      stage: { name: "chip_read", reachedBy: "pass" },
      forgivesChallenges: false,
    },
    {
      name: "face",
      maxTries: triesAllowed,
      stage: { name: "face_captured", reachedBy: "try" },
      forgivesChallenges: true,
    },
  ],
  failureCodes: [
    "document_authenticity_failed",
    "document_active_authentication_failed",
    "document_chip_authentication_failed",
    "document_data_invalid",
    "document_expired",
    "liveness_failed",
    "selfie_face_mismatch",
  ],
  gives: (_, key) => isClaimKey(key),
  // Whether a given document does is known only when it is read.
  meets: (_, requirement) => requirementNames.includes(requirement),
  needs: () => null,
  lacks: () => null,
  channels: () => [],
  looksAt: () => [],
  claims: claimsOf,
  evidence: evidenceOf,
  riskScore,
  overwriteProof,
} as const satisfies Kind<DocumentChipProof, RiskFacts>;

export type DocumentStep = (typeof documentChip)["steps"][number]["name"];

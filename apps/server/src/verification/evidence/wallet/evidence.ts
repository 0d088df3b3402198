import type { WalletEvidence } from "@assay/contract/sessions";
import type { Static } from "typebox";
import type { WalletProof } from "./proof.ts";

const credentials = { wallet_pid: "eudi_pid", wallet_mdl: "mdl", wallet_age: "age_proof" } as const;

/** What a success rests on. It names no issuer: that of a small state would be a claim. */
export function evidenceOf(proof: WalletProof, now: Date): Static<typeof WalletEvidence> {
  return {
    method: "wallet",
    credential: credentials[proof.method],
    format: proof.format,
    trust: proof.trust,
    holder: proof.holder,
    revocation: proof.revocation,
    binding: proof.binding,
    level: proof.method === "wallet_pid" && proof.trust === "eu_list" ? "high" : null,
    warnings: [...new Set(proof.warnings)].sort(),
    verified_at: now.toISOString(),
  };
}

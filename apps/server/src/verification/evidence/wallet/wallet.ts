import { type Method, triesAllowed } from "@assay/contract/facts";
import { type WalletChannel, type WalletMethod, walletMethods } from "@assay/contract/wallet-facts";
import { ageOf, isClaimKey } from "../claim-keys.ts";
import type { Kind, Requirements } from "../kind.ts";
import { claimsOf } from "./claims.ts";
import { evidenceOf } from "./evidence.ts";
import { overwriteProof, type WalletProof } from "./proof.ts";
import { riskScore, type WalletDoubts } from "./risk-score.ts";

/** A credential is presented from a wallet. */
export const wallet = {
  methods: walletMethods,
  steps: [
    {
      name: "wallet",
      maxTries: triesAllowed,
      stage: { name: "wallet_presented", reachedBy: "try" },
      forgivesChallenges: false,
    },
  ],
  failureCodes: [
    "document_authenticity_failed",
    "holder_binding_failed",
    "document_expired",
    "document_data_invalid",
  ],
  gives,
  // Whether a status list is to be had is found out at the answer.
  meets: (method, requirement) => requirement !== "clone_detection" || method !== "wallet_age",
  needs: (method, fieldKeys) =>
    method === "wallet_age" && !fieldKeys.some((key) => ageOf(key) !== null) ? "age_over_18" : null,
  channels,
  looksAt: (method, fieldKeys) => {
    if (method === "wallet_age") return [];
    const age = fieldKeys.some((key) => ageOf(key) !== null);
    return age ? ["date_of_birth", "document_expiry_date"] : ["document_expiry_date"];
  },
  claims: claimsOf,
  evidence: evidenceOf,
  riskScore,
  overwriteProof,
} as const satisfies Kind<WalletProof, WalletDoubts>;

function gives(method: Method, key: string): boolean {
  if (method === "wallet_age") return ageOf(key) !== null || key === "service_document_id";
  return key !== "mrz_optional_data" && isClaimKey(key);
}

/** The link of a proof of age can be answered on another device, so it binds no browser. */
function channels(method: Method, requirements: Requirements): readonly WalletChannel[] {
  if (method !== "wallet_age") return ["dc_api", "redirect"];
  return requirements.binding === "required" ? ["dc_api"] : ["dc_api", "age_link"];
}

export function isWalletMethod(method: Method): method is WalletMethod {
  return walletMethods.some((known) => known === method);
}

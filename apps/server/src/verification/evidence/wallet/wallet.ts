import { type Method, triesAllowed } from "@assay/contract/facts";
import { type WalletChannel, type WalletMethod, walletMethods } from "@assay/contract/wallet-facts";
import { isRegistered } from "../../wallet-identity/registered-fields.ts";
import { ageOf, isClaimKey } from "../claim-keys.ts";
import type { Asked, Kind, Operator, Requirements } from "../kind.ts";
import { claimsOf } from "./claims.ts";
import { evidenceOf } from "./evidence.ts";
import { overwriteProof, purposeOf, type WalletProof } from "./proof.ts";
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
  // Whether a status list is available is known only at the answer.
  meets: (method, requirement) => requirement !== "clone_detection" || method !== "wallet_age",
  needs: (method, fieldKeys) =>
    method === "wallet_age" && !fieldKeys.some((key) => ageOf(key) !== null) ? "age_over_18" : null,
  lacks,
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

/** A wallet answers only a registered verifier. The profile for the proof of age has no registration. */
function lacks(method: Method, { shareFields, requirements }: Asked, operator: Operator): string | null {
  if (!isWalletMethod(method) || channels(method, requirements, operator).length === 0) return "methods";
  if (method === "wallet_age") return null;
  const required = Object.keys(shareFields).filter((key) => shareFields[key]?.required);
  const field = required.find((key) => !isRegistered(operator.registration ?? [], purposeOf[method], key));
  return field === undefined ? null : `share_fields.${field}`;
}

/** Requests are signed, except the link of a proof of age, which any device can open. */
function channels(
  method: Method,
  requirements: Requirements,
  { registration }: Operator,
): readonly WalletChannel[] {
  const signed = registration === null ? [] : (["dc_api", "redirect"] as const);
  if (method !== "wallet_age") return signed;
  const byLink = requirements.binding === "required" ? [] : (["age_link"] as const);
  return [...signed.filter((channel) => channel === "dc_api"), ...byLink];
}

export function isWalletMethod(method: Method): method is WalletMethod {
  return walletMethods.some((known) => known === method);
}

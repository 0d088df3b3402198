import type { CredentialFormat } from "./asked.ts";
import type { Purpose, TrustAnchor } from "./trust-anchor.ts";

/**
 * The holder's attributes, whatever the format. A member is absent if the presentation does not disclose it.
 */
export type Attributes = {
  familyName?: string;
  givenName?: string;
  /** `YYYY-MM-DD`. */
  birthDate?: string;
  /** ISO 3166-1 alpha-2, in the credential's order. */
  nationalities?: readonly string[];
  /** ISO/IEC 5218 and the values that the PID rulebook adds. */
  sex?: number;
  documentNumber?: string;
  /** ISO 3166-1 alpha-2. */
  issuingCountry?: string;
  /** The document's, `YYYY-MM-DD`. Never the technical validity of the credential. */
  expiryDate?: string;
  /** By the number of years. */
  ageOver?: Readonly<Record<number, boolean>>;
};

/** Where the issuer publishes the credential's status. */
export type StatusReference = { uri: string; index: number };

export type Accepted = {
  kind: "accepted";
  /** The id of the credential in the query. */
  id: string;
  purpose: Purpose;
  format: CredentialFormat;
  anchor: TrustAnchor;
  holder: "key_proven" | "not_proven";
  attributes: Attributes;
  status: StatusReference | null;
  validFrom: Date | null;
  validUntil: Date;
  /** The wallet disclosed something that was not requested. None of the members above holds it. */
  disclosedMore: boolean;
};

/** Which of the session's failure codes a refusal leads to. */
export type RefusalCause = "authenticity" | "holder" | "expired" | "data";

/** `reason` is for the audit log: a word of a closed list, which names nothing of the person. */
export type Refused = { kind: "refused"; cause: RefusalCause; reason: RefusalReason };

/** Every reason, with its cause. */
export const refusalReasons = {
  malformed: "data",
  no_documents: "data",
  status_not_ok: "data",
  repeated_element: "data",
  wrong_type: "data",
  claim_missing: "data",
  claim_unreadable: "data",
  algorithm_not_allowed: "authenticity",
  issuer_unknown: "authenticity",
  issuer_not_valid: "authenticity",
  issuer_signature: "authenticity",
  digest_mismatch: "authenticity",
  revoked: "authenticity",
  suspended: "authenticity",
  not_yet_valid: "authenticity",
  holder_proof_missing: "holder",
  holder_signature: "holder",
  wrong_nonce: "holder",
  wrong_audience: "holder",
  wrong_sd_hash: "holder",
  holder_proof_too_old: "holder",
  holder_proof_in_future: "holder",
  credential_expired: "expired",
  document_expired: "expired",
} as const satisfies Record<string, RefusalCause>;
export type RefusalReason = keyof typeof refusalReasons;

export type Verdict = Accepted | Refused;

export function refuse(reason: RefusalReason): Refused {
  return { kind: "refused", cause: refusalReasons[reason], reason };
}

import type { Level, WarningCode } from "@assay/emrtd/verify/report";

/** Residual doubts after every check passed, as independent probabilities. */
const chipMayBeCopied = 0.3;
const faceSimulated = 0.2;
/** A deviation that says almost nothing about one document, but should still be visible. */
const slight = 0.02;
/** An unlisted warning does not compile, so every new one gets a weight. */
const warningWeights: Readonly<Record<WarningCode, number>> = {
  revocation_list_missing: 0.1,
  // Not checked, so as uncertain as without a list.
  revocation_unchecked: 0.1,
  revocation_list_stale: 0.05,
  // A key that signs other documents than declared: a mistake of the state, or a stolen key.
  document_type_not_listed: 0.1,
  // The state has published the deviation, so it expects the document to have it.
  document_deviates: 0.05,
  // No check depends on it.
  extension_unreadable: slight,
  sha1: 0.1,
  short_rsa_key: 0.1,
  wrong_curve_of_same_size: 0.2,
  issuer_name_mismatch: 0.1,
  issuer_key_id_mismatch: 0.1,
  authority_not_marked: 0.05,
  unknown_critical_extension: 0.1,
  country_mismatch: 0.3,
  undeclared_group: 0.2,
  // Deviations of whole states say little about one document.
  signer_expired: 0,
  signature_algorithm_without_hash: 0,
  // No weight: a chip that is left without a proof is counted already, because it may be a copy.
  chip_authentication_unsupported: 0,
  mrz_check_digits_differ: slight,
  century_of_birth_unknown: slight,
  signed_after_key_usage_period: slight,
  signer_key_usage: slight,
  authority_without_country: slight,
  signer_id_mismatch: slight,
  signed_attributes_absent: slight,
  digest_differs_from_signature_hash: slight,
  digest_info_without_null: slight,
  raw_ecdsa_signature: slight,
  legacy_content_type: slight,
};
const failedTry = 0.05;

export type RiskFacts = {
  level: Level | null;
  warnings: readonly WarningCode[];
  /** Tries of this session that failed before. */
  failedTries: number;
  /** Null before the face was judged; `risk` is the judge's own doubt, 0 to 1. */
  face: { simulated: boolean; risk: number } | null;
};

/**
 * 0 to 1, with three decimals. Doubts are independent: the score is 1 minus the product of (1 - weight). So
 * each doubt counts once, and no number of small ones reaches 1.
 */
export function riskScore({ level, warnings, failedTries, face }: RiskFacts): number {
  if (level === null) return 1;
  const doubts = [
    level === "chip_clonable" ? chipMayBeCopied : 0,
    ...[...new Set(warnings)].map((code) => warningWeights[code]),
    ...Array.from({ length: Math.min(failedTries, 6) }, () => failedTry),
    face?.simulated ? faceSimulated : 0,
    Math.min(Math.max(face?.risk ?? 0, 0), 1),
  ];
  const trust = doubts.reduce((left, doubt) => left * (1 - doubt), 1);
  return Math.round((1 - trust) * 1000) / 1000;
}

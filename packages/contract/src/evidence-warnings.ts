/**
 * Every warning that the evidence of a success can hold: a defect of the document or its certificates that
 * the service tolerates. The list is closed, and partners read these sentences. A test compares it with the
 * report's codes.
 */
export const evidenceWarnings = {
  revocation_list_missing:
    "There is no revocation list of the authority, so a revoked signer would not be noticed.",
  revocation_list_stale: "The newest revocation list is out of date: its successor is due.",
  revocation_unchecked: "Revocation lists with the authority's name exist, but none can be used.",
  sha1: "SHA-1 is used in a signature of the state or in the hashes of the data groups.",
  signer_expired: "The signer's certificate has expired since it signed.",
  mrz_check_digits_differ: "The state signed a machine readable zone with a wrong check digit.",
  century_of_birth_unknown: "Neither the zone nor the chip says in which century the holder was born.",
  document_type_not_listed:
    "The signer's certificate lists the document types that it signs, and this type is not listed.",
  document_deviates: "The state has published that documents of this signer or kind have a fault.",
  signed_after_key_usage_period: "The document was signed after the usage period of the signer's key.",
  signer_key_usage: "The signer's certificate does not say that it may sign.",
  unknown_critical_extension:
    "The signer's certificate has a critical extension that the service does not know.",
  extension_unreadable: "A certificate has an extension that cannot be read and that no check needs.",
  issuer_name_mismatch:
    "The signer's certificate names its authority differently from the authority's own certificate.",
  issuer_key_id_mismatch: "The signer's certificate names another key of its authority.",
  authority_not_marked: "The authority's certificate is not marked as that of an authority.",
  authority_without_country: "The authority's certificate names no country.",
  chip_authentication_unsupported:
    "The document offers chip authentication only with keys or a version that the service does not support.",
  country_mismatch: "Signer, authority and document name different states.",
  undeclared_group: "The chip holds a group that the security object does not name.",
  signer_id_mismatch: "The signature names its signer differently from the signer's certificate.",
  signed_attributes_absent: "The state signed the hashes directly, without signed attributes.",
  signature_algorithm_without_hash: "The signature does not say which hash it was made with.",
  digest_differs_from_signature_hash: "The signature names two different hashes.",
  digest_info_without_null: "The signature leaves out a field that the standard asks for.",
  raw_ecdsa_signature: "The signature has a form that the standard does not define.",
  wrong_curve_of_same_size: "The signature fits another curve than the one that the certificate names.",
  legacy_content_type: "The security object has the content type of the first edition of the standard.",
  short_rsa_key: "The signer's RSA key is shorter than is recommended today.",
} as const;
export type EvidenceWarning = keyof typeof evidenceWarnings;

/**
 * Every warning that the evidence of a success can hold: what was found on the document or in its state's certificates, and tolerated. The
 * list is closed; the sentences are what partners are told. A test holds it against the codes of the report.
 */
export const evidenceWarnings = {
  revocation_list_missing:
    "There is no revocation list of the authority, so a revoked signer would not be noticed.",
  revocation_list_stale: "The newest revocation list is past the time of its successor.",
  revocation_unchecked: "There are revocation lists of the authority's name, and none of them can be used.",
  sha1: "SHA-1 is used in a signature of the state or in the hashes of the data groups.",
  signer_expired: "The signer's certificate has expired since it signed.",
  mrz_check_digits_differ: "The state signed a machine readable zone with a wrong check digit.",
  century_of_birth_unknown: "Neither the zone nor the chip says in which century the holder was born.",
  document_type_not_listed:
    "The signer's certificate lists the types of documents that it signs, and this type is not among them.",
  document_deviates: "The state has published that documents of this signer or kind have a fault.",
  signed_after_key_usage_period: "The document was signed after the signer's key was to be retired.",
  signer_key_usage: "The signer's certificate does not say that it may sign.",
  unknown_critical_extension:
    "The signer's certificate has a critical extension that is not understood here.",
  extension_unreadable: "A certificate has an extension that cannot be read and that nothing hangs on.",
  issuer_name_mismatch:
    "The signer's certificate names its authority in another way than the authority itself.",
  issuer_key_id_mismatch: "The signer's certificate names another key of its authority.",
  authority_not_marked: "The authority's certificate does not say that it is one.",
  authority_without_country: "The authority's certificate names no country.",
  chip_authentication_unsupported:
    "The document offers chip authentication only with keys or in a version that cannot be used here.",
  country_mismatch: "Signer, authority and document name different states.",
  undeclared_group: "The chip holds a group that the security object does not name.",
  signer_id_mismatch: "The signature names its signer in another way than the signer's certificate.",
  signed_attributes_absent:
    "The state signed the hashes themselves, without the attributes that go with them.",
  signature_algorithm_without_hash: "The signature does not say which hash it was made with.",
  digest_differs_from_signature_hash: "The signature names two different hashes.",
  digest_info_without_null: "The signature leaves out a field that the standard asks for.",
  raw_ecdsa_signature: "The signature is in a form that the standard does not know.",
  wrong_curve_of_same_size: "The signature fits another curve than the one that the certificate names.",
  legacy_content_type: "The security object is marked as in the first edition of the standard.",
  short_rsa_key: "The signer's RSA key is shorter than is recommended today.",
} as const;
export type EvidenceWarning = keyof typeof evidenceWarnings;

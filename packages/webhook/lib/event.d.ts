// Generated from the contract by `npm run generate`. Values of an enumeration may be added at any time.

export type EventMetadata = {
  /** Identifier of an event. */
  event_id: string;
  /** Identifier of a verification session. */
  verification_session_id: string | null;
  contract_version: number | null;
  client_reference_id: string | null;
};

export type ChipAndFaceEvidence = {
  /** The chip of a document was read and checked, and a living face was compared with its portrait. */
  method: "chip_and_face";
  /** `genuine`: the chip proved that it is the original. `copy_not_excluded`: the state signed the data, and the document offers no proof that its chip is no copy. */
  chip: "genuine" | "copy_not_excluded";
  /** `checked`: a fresh list of the state does not name the signer. `stale`: the newest list is past its time, and does not name the signer. `no_list`: there was no list that counts. */
  revocation: "checked" | "stale" | "no_list";
  /** What was found and tolerated, each once. */
  warnings: Array<"revocation_list_missing" | "revocation_list_stale" | "revocation_unchecked" | "sha1" | "signer_expired" | "mrz_check_digits_differ" | "century_of_birth_unknown" | "document_type_not_listed" | "document_deviates" | "signed_after_key_usage_period" | "signer_key_usage" | "unknown_critical_extension" | "extension_unreadable" | "issuer_name_mismatch" | "issuer_key_id_mismatch" | "authority_not_marked" | "authority_without_country" | "chip_authentication_unsupported" | "country_mismatch" | "undeclared_group" | "signer_id_mismatch" | "signed_attributes_absent" | "signature_algorithm_without_hash" | "digest_differs_from_signature_hash" | "digest_info_without_null" | "raw_ecdsa_signature" | "wrong_curve_of_same_size" | "legacy_content_type" | "short_rsa_key">;
  /** The person in front of the camera is the one in the portrait. */
  face: "matched";
  /** Which checks of the face were passed, in this order. */
  face_checks: Array<"movements" | "one_person" | "portrait" | "not_a_copy" | "head_turned" | "colours">;
  /** `attested`: the phone's secure hardware vouches that the operator's app signed the pictures, on a locked phone with the maker's system. `unattested`: nothing vouches, as in every browser, and injected pictures are harder to exclude. */
  device: "attested" | "unattested";
  /** ISO 8601, UTC, with milliseconds. */
  verified_at: string;
};

export type WalletEvidence = {
  /** A credential was presented from a wallet. Only sessions whose `methods` name a wallet have it. */
  method: "wallet";
  /** `eudi_pid`: personal identification data of a state of the European Union. `mdl`: a mobile driving licence. `age_proof`: a proof of age and nothing else. */
  credential: "eudi_pid" | "mdl" | "age_proof";
  format: "dc+sd-jwt" | "mso_mdoc";
  /** Which list named the issuer. `eu_list`: a list of trusted entities of the European Union. `vical`: a list of issuers of driving licences. `operator`: the operator's own. `sandbox`: that of test credentials. */
  trust: "eu_list" | "vical" | "operator" | "sandbox";
  /** `key_proven`: the wallet proved that it holds the key that the credential was issued to. `not_proven`: it was not asked to, which only `age_proof` allows. */
  holder: "key_proven" | "not_proven";
  /** `checked`: a fresh status list does not name the credential. `short_lived`: it is valid for at most a day. `stale`: the newest list is past its time. `no_list`: there was none. */
  revocation: "checked" | "short_lived" | "stale" | "no_list";
  /** How the presentation is tied to the person's browser. `platform`: by the browser itself. `same_browser`: the browser that asked got the answer. `handed_over`: the person changed to a phone by our own page. `cross_device`: not at all, for `age_proof` only. */
  binding: "platform" | "same_browser" | "handed_over" | "cross_device";
  /** `high`: the level of assurance of an `eudi_pid` whose issuer is on the list of the European Union. */
  level: "high" | null;
  /** What was found and tolerated, each once. `more_nationalities`: the credential has several, and the first was taken. `trust_list_stale`: the list that names the issuer is past its time. `wallet_disclosed_more`: the wallet sent more than was asked for; it was dropped. `status_list_stale`: the status list of the issuer is past its time. `status_list_missing`: it could not be had. */
  warnings: Array<"more_nationalities" | "trust_list_stale" | "wallet_disclosed_more" | "status_list_stale" | "status_list_missing">;
  /** ISO 8601, UTC, with milliseconds. */
  verified_at: string;
};

export type SessionSucceededData = {
  /** The claims that the person agreed to share; declined ones are absent. */
  claims: Record<string, unknown>;
  selected_field_keys: Array<string>;
  evidence: ChipAndFaceEvidence | WalletEvidence;
  /** SHA-256, in hexadecimal, of the `return_code`. Only the browser that first opened the session brings this code back to `redirect_url`. Compare the two in the browser that is signed in at your site. Null without a `redirect_url`, and while no browser has opened the session. */
  return_code_sha256: string | null;
};

export type SessionSucceededEvent = {
  /** Identifier of an event. */
  id: string;
  type: "verification.session.succeeded";
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string;
  sandbox: boolean;
  metadata: EventMetadata;
  data: SessionSucceededData;
};

export type SessionFailedData = {
  failure_code: "document_authenticity_failed" | "document_active_authentication_failed" | "document_chip_authentication_failed" | "document_data_invalid" | "document_expired" | "liveness_failed" | "selfie_face_mismatch" | "holder_binding_failed";
  /** Your requirement that the document could not meet, if the session failed for that reason; null for every other failure. */
  unmet_requirement: "clone_detection" | "revocation" | null;
  nfc_tries_used: number;
  liveness_tries_used: number;
  /** SHA-256, in hexadecimal, of the `return_code`. Only the browser that first opened the session brings this code back to `redirect_url`. Compare the two in the browser that is signed in at your site. Null without a `redirect_url`, and while no browser has opened the session. */
  return_code_sha256: string | null;
};

export type SessionFailedEvent = {
  /** Identifier of an event. */
  id: string;
  type: "verification.session.failed";
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string;
  sandbox: boolean;
  metadata: EventMetadata;
  data: SessionFailedData;
};

export type SessionExpiredData = {
  nfc_tries_used: number;
  liveness_tries_used: number;
  /** SHA-256, in hexadecimal, of the `return_code`. Only the browser that first opened the session brings this code back to `redirect_url`. Compare the two in the browser that is signed in at your site. Null without a `redirect_url`, and while no browser has opened the session. */
  return_code_sha256: string | null;
};

export type SessionExpiredEvent = {
  /** Identifier of an event. */
  id: string;
  type: "verification.session.expired";
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string;
  sandbox: boolean;
  metadata: EventMetadata;
  data: SessionExpiredData;
};

export type SessionCancelledData = {
  outcome: "not_verified";
  reason: "cancelled_by_partner" | "cancelled_by_user" | "consent_withdrawn";
  nfc_tries_used: number;
  liveness_tries_used: number;
  /** SHA-256, in hexadecimal, of the `return_code`. Only the browser that first opened the session brings this code back to `redirect_url`. Compare the two in the browser that is signed in at your site. Null without a `redirect_url`, and while no browser has opened the session. */
  return_code_sha256: string | null;
};

export type SessionCancelledEvent = {
  /** Identifier of an event. */
  id: string;
  type: "verification.session.cancelled";
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string;
  sandbox: boolean;
  metadata: EventMetadata;
  data: SessionCancelledData;
};

export type EndpointTestData = {
  /** Identifier of a webhook endpoint. */
  webhook_endpoint_id: string;
};

export type EndpointTestEvent = {
  /** Identifier of an event. */
  id: string;
  type: "webhook.endpoint.test";
  /** ISO 8601, UTC, with milliseconds. */
  created_at: string;
  sandbox: boolean;
  metadata: EventMetadata;
  data: EndpointTestData;
};

/** Every event, told apart by `type`. */
export type WebhookEvent =
  | SessionSucceededEvent
  | SessionFailedEvent
  | SessionExpiredEvent
  | SessionCancelledEvent
  | EndpointTestEvent;

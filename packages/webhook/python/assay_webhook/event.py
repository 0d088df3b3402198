# Generated from the contract by `npm run generate`. Values of an enumeration may be added at any time.
from typing import Any, Dict, List, Literal, TypedDict, Union


class EventMetadata(TypedDict):
    event_id: str
    verification_session_id: Union[str, None]
    contract_version: Union[int, None]
    client_reference_id: Union[str, None]


class ChipAndFaceEvidence(TypedDict):
    method: Literal["chip_and_face"]
    chip: Literal["genuine", "copy_not_excluded"]
    revocation: Literal["checked", "stale", "no_list"]
    warnings: List[Literal["revocation_list_missing", "revocation_list_stale", "revocation_unchecked", "sha1", "signer_expired", "mrz_check_digits_differ", "century_of_birth_unknown", "document_type_not_listed", "document_deviates", "signed_after_key_usage_period", "signer_key_usage", "unknown_critical_extension", "extension_unreadable", "issuer_name_mismatch", "issuer_key_id_mismatch", "authority_not_marked", "authority_without_country", "chip_authentication_unsupported", "country_mismatch", "undeclared_group", "signer_id_mismatch", "signed_attributes_absent", "signature_algorithm_without_hash", "digest_differs_from_signature_hash", "digest_info_without_null", "raw_ecdsa_signature", "wrong_curve_of_same_size", "legacy_content_type", "short_rsa_key"]]
    face: Literal["matched"]
    face_checks: List[Literal["movements", "one_person", "portrait", "not_a_copy", "head_turned", "colours"]]
    device: Literal["attested", "unattested"]
    verified_at: str


class WalletEvidence(TypedDict):
    method: Literal["wallet"]
    credential: Literal["eudi_pid", "mdl", "age_proof"]
    format: Literal["dc+sd-jwt", "mso_mdoc"]
    trust: Literal["eu_list", "vical", "operator", "sandbox"]
    holder: Literal["key_proven", "not_proven"]
    revocation: Literal["checked", "short_lived", "stale", "no_list"]
    binding: Literal["platform", "same_browser", "handed_over", "cross_device"]
    level: Union[Literal["high"], None]
    warnings: List[Literal["more_nationalities", "trust_list_stale", "wallet_disclosed_more", "status_list_stale", "status_list_missing"]]
    verified_at: str


class SessionSucceededData(TypedDict):
    claims: Dict[str, Any]
    selected_field_keys: List[str]
    evidence: Union[ChipAndFaceEvidence, WalletEvidence]
    return_code_sha256: Union[str, None]


class SessionSucceededEvent(TypedDict):
    id: str
    type: Literal["verification.session.succeeded"]
    created_at: str
    sandbox: bool
    metadata: EventMetadata
    data: SessionSucceededData


class SessionFailedData(TypedDict):
    failure_code: Literal["document_authenticity_failed", "document_active_authentication_failed", "document_chip_authentication_failed", "document_data_invalid", "document_expired", "liveness_failed", "selfie_face_mismatch", "holder_binding_failed"]
    unmet_requirement: Union[Literal["clone_detection", "revocation"], None]
    nfc_tries_used: int
    liveness_tries_used: int
    return_code_sha256: Union[str, None]


class SessionFailedEvent(TypedDict):
    id: str
    type: Literal["verification.session.failed"]
    created_at: str
    sandbox: bool
    metadata: EventMetadata
    data: SessionFailedData


class SessionExpiredData(TypedDict):
    nfc_tries_used: int
    liveness_tries_used: int
    return_code_sha256: Union[str, None]


class SessionExpiredEvent(TypedDict):
    id: str
    type: Literal["verification.session.expired"]
    created_at: str
    sandbox: bool
    metadata: EventMetadata
    data: SessionExpiredData


class SessionCancelledData(TypedDict):
    outcome: Literal["not_verified"]
    reason: Literal["cancelled_by_partner", "cancelled_by_user", "consent_withdrawn"]
    nfc_tries_used: int
    liveness_tries_used: int
    return_code_sha256: Union[str, None]


class SessionCancelledEvent(TypedDict):
    id: str
    type: Literal["verification.session.cancelled"]
    created_at: str
    sandbox: bool
    metadata: EventMetadata
    data: SessionCancelledData


class EndpointTestData(TypedDict):
    webhook_endpoint_id: str


class EndpointTestEvent(TypedDict):
    id: str
    type: Literal["webhook.endpoint.test"]
    created_at: str
    sandbox: bool
    metadata: EventMetadata
    data: EndpointTestData


WebhookEvent = Union[SessionSucceededEvent, SessionFailedEvent, SessionExpiredEvent, SessionCancelledEvent, EndpointTestEvent]

import type { SignedDataTolerance } from "../cms/verify-signed-data.ts";
import type { SignatureTolerance } from "../crypto/check-signature.ts";

/**
 * `accept`: no trace. `warn`: listed among the report's warnings.
 * `refuse`: the check fails with the switch's name as reason.
 */
export const rulings = ["accept", "warn", "refuse"] as const;
export type Ruling = (typeof rulings)[number];

export type PolicySwitchDefinition = {
  /** One sentence for operators: the finding and its effect. */
  readonly description: string;
  readonly byDefault: Ruling;
  /** Ruling of the policy that follows the standards strictly. */
  readonly strict: Ruling;
  /**
   * Whether an operator may set it. The others would let one state sign for another, or accept unsigned data.
   */
  readonly forOperators: boolean;
};

/**
 * Every configurable judgement, defined once. The name is that of the warning and of the refusal's reason,
 * and the documentation uses the descriptions.
 */
export const policySwitches = {
  revocation_list_missing: {
    description: "There is no revocation list of the authority, so a revoked signer would not be noticed.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  revocation_list_stale: {
    description: "The newest revocation list is out of date: its successor is due.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  revocation_unchecked: {
    description:
      "There are revocation lists of the authority's name, and none of them can be used: dated in the future, partial, or not signed by a key that counts.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  sha1: {
    description: "SHA-1 is used in a signature of the state or in the hashes of the data groups.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  signer_expired: {
    description:
      "The signer's certificate has expired since it signed. It was valid at that time, which is checked in any case.",
    byDefault: "warn",
    strict: "warn",
    forOperators: true,
  },
  mrz_check_digits_differ: {
    description: "The state signed a machine readable zone with a wrong check digit.",
    byDefault: "refuse",
    strict: "refuse",
    forOperators: true,
  },
  century_of_birth_unknown: {
    description:
      "Neither the zone nor DG11 says in which century the holder was born. With accept or warn the holder counts as young; with refuse, a field that depends on the century fails the verification.",
    byDefault: "refuse",
    strict: "refuse",
    forOperators: true,
  },
  document_type_not_listed: {
    description:
      "The signer's certificate lists the document types that it signs, and this type is not listed.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  document_deviates: {
    description: "A deviation list of the state says that documents of this signer or kind have a fault.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  signed_after_key_usage_period: {
    description: "The document was signed after the usage period of the signer's key.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  signer_key_usage: {
    description: "The signer's certificate has no key usage, or one that lacks digital signatures.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  unknown_critical_extension: {
    description: "The signer's certificate has a critical extension that the service does not know.",
    byDefault: "refuse",
    strict: "refuse",
    forOperators: true,
  },
  extension_unreadable: {
    description: "A certificate has an extension that cannot be read and that no check needs.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  issuer_name_mismatch: {
    description: "The signer's certificate points to its authority by a key id, and the name does not fit.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  issuer_key_id_mismatch: {
    description: "The signer's certificate points to its authority by name, and the key id does not fit.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  authority_not_marked: {
    description: "The authority's certificate is not marked as that of an authority.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  authority_without_country: {
    description:
      "The authority's certificate names no country. Accepted or warned about, the country of the signer is compared with the document alone.",
    byDefault: "refuse",
    strict: "refuse",
    forOperators: true,
  },
  chip_authentication_unsupported: {
    description:
      "The document offers chip authentication only with keys or a version that the service does not support, so this proof is not requested.",
    byDefault: "warn",
    strict: "refuse",
    forOperators: true,
  },
  country_mismatch: {
    description: "Signer, authority and document name different states.",
    byDefault: "refuse",
    strict: "refuse",
    forOperators: false,
  },
  undeclared_group: {
    description: "The chip holds a group that the security object does not name.",
    byDefault: "refuse",
    strict: "refuse",
    forOperators: false,
  },
} as const satisfies Readonly<Record<string, PolicySwitchDefinition>>;

export type PolicySwitch = keyof typeof policySwitches;
export const policySwitchNames = Object.keys(policySwitches) as readonly PolicySwitch[];
export type PolicyRulings = Readonly<Record<PolicySwitch, Ruling>>;

/** What an operator may decide. The report names everything with `warn`. */
export type VerificationPolicy = {
  readonly rulings: PolicyRulings;
  /** Deviations of the security object and its signature that real states show. */
  readonly securityObject: SignedDataTolerance & {
    /** The content type of the first edition of the standard, or the one of early Dutch documents. */
    readonly legacyContentType: boolean;
  };
  /** Deviations of the signature on the document signer's certificate. */
  readonly signerCertificate: SignatureTolerance;
  /** RSA keys of document signers below this length are refused. */
  readonly minimumRsaBits: number;
  /** A document is valid to the end of its last day at the holder's place, up to twelve hours after UTC. */
  readonly expiryGraceHours: number;
};

function rulingsOf(which: "byDefault" | "strict"): PolicyRulings {
  const named = policySwitchNames.map((name) => [name, policySwitches[name][which]] as const);
  return Object.fromEntries(named) as PolicyRulings;
}

export const defaultPolicy: VerificationPolicy = {
  rulings: rulingsOf("byDefault"),
  securityObject: {
    digestInfoWithoutNull: true,
    rawEcdsa: true,
    wrongCurveOfSameSize: false,
    signerIdMismatch: true,
    noSignedAttributes: true,
    legacyContentType: true,
  },
  signerCertificate: {
    digestInfoWithoutNull: true,
    rawEcdsa: true,
    wrongCurveOfSameSize: false,
  },
  minimumRsaBits: 1024,
  expiryGraceHours: 12,
};

/** Follows the standards strictly and requires revocation lists. */
export const strictPolicy: VerificationPolicy = {
  rulings: rulingsOf("strict"),
  securityObject: {
    digestInfoWithoutNull: false,
    rawEcdsa: false,
    wrongCurveOfSameSize: false,
    signerIdMismatch: false,
    noSignedAttributes: false,
    legacyContentType: false,
  },
  signerCertificate: {
    digestInfoWithoutNull: false,
    rawEcdsa: false,
    wrongCurveOfSameSize: false,
  },
  minimumRsaBits: 2048,
  expiryGraceHours: 12,
};

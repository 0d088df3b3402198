/** How a test wallet answers, and the result for the session. For engineers, in English. */
type Outcome = {
  readonly title: string;
  readonly description: string;
  /** The failure code of a presentation that is refused; null where none is. */
  readonly failureCode: "document_authenticity_failed" | "holder_binding_failed" | "document_expired" | null;
};

export const walletOutcomes = {
  valid: {
    title: "Valid, an adult",
    description: "Everything passes. The status list says that the credential is valid.",
    failureCode: null,
  },
  minor: {
    title: "Valid, a child of eleven",
    description: "Everything passes. Ages come out as false.",
    failureCode: null,
  },
  "discloses-more": {
    title: "Discloses more than was asked for",
    description: "It passes. The rest is dropped, and the evidence has the warning wallet_disclosed_more.",
    failureCode: null,
  },
  expired: {
    title: "Expired",
    description: "The document was valid until last year.",
    failureCode: "document_expired",
  },
  revoked: {
    title: "Revoked",
    description: "The status list of the issuer says that the credential was revoked.",
    failureCode: "document_authenticity_failed",
  },
  suspended: {
    title: "Suspended",
    description: "The status list of the issuer says that the credential is suspended.",
    failureCode: "document_authenticity_failed",
  },
  "unknown-issuer": {
    title: "Unknown issuer",
    description: "The signature is right, and no list names who made it.",
    failureCode: "document_authenticity_failed",
  },
  "wrong-holder-key": {
    title: "Another holder's key",
    description: "The credential was issued to another key than the one that signs the presentation.",
    failureCode: "holder_binding_failed",
  },
  "foreign-nonce": {
    title: "Made for another request",
    description:
      "The presentation is signed over another nonce, as one that was recorded elsewhere would be.",
    failureCode: "holder_binding_failed",
  },
  declines: {
    title: "Declines",
    description: "The wallet answers access_denied. The session stays open, and no try is used up.",
    failureCode: null,
  },
} as const satisfies Record<string, Outcome>;

export type WalletOutcome = keyof typeof walletOutcomes;

export const walletOutcomeNames = Object.keys(walletOutcomes) as readonly WalletOutcome[];

export function isWalletOutcome(name: string): name is WalletOutcome {
  return Object.hasOwn(walletOutcomes, name);
}

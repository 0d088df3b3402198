/**
 * The closed list of everything that can go wrong in this package.
 * Callers switch over it, so a new code is a change of the interface.
 */
export type EmrtdErrorCode =
  // encodings
  | "BYTES_INVALID"
  | "BER_TRUNCATED"
  | "BER_TOO_DEEP"
  | "BER_TOO_LARGE"
  | "BER_INVALID"
  | "OID_INVALID"
  // data on the document and its chip
  | "MRZ_INVALID"
  | "LDS_INVALID"
  | "LDS_TOO_LARGE"
  | "LDS_UNSUPPORTED"
  | "IMAGE_INVALID"
  | "IMAGE_UNSUPPORTED"
  // the wire to the chip
  | "APDU_INVALID"
  | "CHIP_STATUS"
  | "CHIP_LOST"
  // the chip answers only after the person lifts and places the document again, or the reader resets it
  | "RESET_NEEDED"
  | "CHIP_RESPONSE_INVALID"
  | "FILE_NOT_FOUND"
  | "FILE_TOO_LARGE"
  | "ACCESS_DENIED"
  | "SECURE_MESSAGING_FAILED"
  // protocols
  | "ACCESS_KEY_INVALID"
  | "PROTOCOL_UNSUPPORTED"
  | "BAC_FAILED"
  | "PACE_FAILED"
  | "CRYPTO_INVALID"
  | "ALGORITHM_UNSUPPORTED"
  // signatures and trust
  | "CMS_INVALID"
  | "CERTIFICATE_INVALID"
  | "CRL_INVALID"
  | "MASTER_LIST_INVALID"
  | "DEVIATION_LIST_INVALID"
  | "TRUST_IMPORT_INVALID"
  | "POLICY_INVALID"
  // a builder was given something that cannot be encoded
  | "BUILD_INVALID";

type EmrtdErrorDetails = {
  /** SW1 SW2 as the chip sent them, with CHIP_STATUS and its relatives. */
  readonly statusWord?: number;
  readonly cause?: unknown;
};

/**
 * The only error that this package's readers throw. The message names the structure and the broken rule. It
 * never quotes the input, because messages end up in logs and the input is a passport.
 */
export class EmrtdError extends Error {
  readonly code: EmrtdErrorCode;
  readonly statusWord: number | null;

  constructor(code: EmrtdErrorCode, message: string, details: EmrtdErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "EmrtdError";
    this.code = code;
    this.statusWord = details.statusWord ?? null;
  }
}

export function isEmrtdError(error: unknown): error is EmrtdError {
  return error instanceof EmrtdError;
}

/** Thrown for bytes that a reader cannot read. A reader throws no other error, whatever its input. */
export class CredentialError extends Error {
  readonly code: "malformed" | "too_large" | "not_supported" | "signature" | "expired";

  constructor(code: CredentialError["code"], message: string) {
    super(message);
    this.name = "CredentialError";
    this.code = code;
  }
}

/** The error of one reader for bytes that break a rule of its format. */
export function malformedIn(format: string): (rule: string) => CredentialError {
  return (rule) => new CredentialError("malformed", `${format}: ${rule}`);
}

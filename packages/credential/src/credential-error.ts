/** What a reader throws for bytes that it cannot read. Nothing else leaves a reader, whatever the input is. */
export class CredentialError extends Error {
  readonly code: "malformed" | "too_large" | "not_supported" | "signature" | "expired";

  constructor(code: CredentialError["code"], message: string) {
    super(message);
    this.name = "CredentialError";
    this.code = code;
  }
}

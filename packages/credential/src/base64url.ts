import { base64url } from "jose";
import { CredentialError } from "./credential-error.ts";

/** Without padding, as JOSE and OpenID4VP write it. */
export function toBase64Url(bytes: Uint8Array): string {
  return base64url.encode(bytes);
}

/**
 * Strict: no padding, no foreign characters and no bits after the last byte, so that each value has one text.
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 4 === 1 || !/^[A-Za-z0-9_-]*$/.test(text)) throw malformed();
  const bytes = base64url.decode(text) as Uint8Array<ArrayBuffer>;
  const last = text.slice(text.length - (text.length % 4));
  if (base64url.encode(bytes.subarray(bytes.length - (bytes.length % 3))) !== last) throw malformed();
  return bytes;
}

/** The standard alphabet, with or without padding, as `x5c` has it. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const unpadded = text.replace(/={1,2}$/, "");
  if (unpadded.length !== text.length && text.length % 4 !== 0) throw malformed();
  if (/[-_]/.test(unpadded)) throw malformed();
  return fromBase64Url(unpadded.replaceAll("+", "-").replaceAll("/", "_"));
}

export function toBase64(bytes: Uint8Array): string {
  const text = toBase64Url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

function malformed(): CredentialError {
  return new CredentialError("malformed", "base64: not well formed");
}

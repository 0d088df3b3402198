import { type CryptoKey, compactVerify } from "jose";
import { fromBase64, fromBase64Url } from "../base64url.ts";
import { CredentialError } from "../credential-error.ts";
import { isJsonArray, type JsonObject, readJsonObject } from "../json.ts";

/** A JWS in compact form whose signature was not looked at yet. */
export type UncheckedJws = { compact: string; header: JsonObject };

/** Only the header is read: what else is damaged makes the signature wrong. */
export function readJws(compact: string, maxCharacters: number): UncheckedJws {
  if (compact.length > maxCharacters) throw new CredentialError("too_large", "JWS: too many characters");
  const parts = compact.split(".");
  if (parts.length !== 3) throw new CredentialError("malformed", "JWS: not in compact form");
  return { compact, header: readJsonObject(fromBase64Url(parts[0] ?? "")) };
}

/** `typ` of the header as a media type without `application/` (RFC 7515, 4.1.9), in lower case, or null. */
export function typeOf({ header: { typ } }: UncheckedJws): string | null {
  return typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : null;
}

/** The claims of a JWT. Only after its signature was found to be right. */
export function claimsOf({ compact }: UncheckedJws): JsonObject {
  return readJsonObject(fromBase64Url(compact.split(".")[1] ?? ""));
}

/**
 * Accepts only this algorithm, whatever the header says.
 * `understood` names critical parameters that the caller handles.
 */
export async function hasSignature(
  { compact }: UncheckedJws,
  key: CryptoKey,
  algorithm: string,
  understood: readonly string[] = [],
): Promise<boolean> {
  try {
    fromBase64Url(compact.slice(compact.lastIndexOf(".") + 1));
    await compactVerify(compact, key, {
      algorithms: [algorithm],
      crit: Object.fromEntries(understood.map((name) => [name, true])),
    });
    return true;
  } catch {
    return false;
  }
}

/** Long enough for any path that is accepted, and short enough to cost nothing when it is not. */
const maxCertificates = 10;

/** Null where the header has no `x5c`. */
export function certificatesOf({ header }: UncheckedJws): readonly Uint8Array[] | null {
  const { x5c } = header;
  if (x5c === undefined) return null;
  if (!isJsonArray(x5c) || x5c.length === 0 || x5c.length > maxCertificates)
    throw new CredentialError("malformed", "JWS: x5c is no list of certificates");
  return x5c.map((certificate) => {
    if (typeof certificate !== "string") throw new CredentialError("malformed", "JWS: x5c without a text");
    return fromBase64(certificate);
  });
}

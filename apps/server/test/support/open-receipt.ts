import assert from "node:assert/strict";
import { createPublicKey, type JsonWebKey, verify } from "node:crypto";

/** Verifies a compact JWS without the library that signed it. Throws where the signature does not fit. */
export function openReceipt(jws: string, jwk: JsonWebKey) {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const isSigned = verify(
    null,
    Buffer.from(`${header}.${payload}`),
    key,
    Buffer.from(signature, "base64url"),
  );
  assert.ok(isSigned, "the signature does not fit");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: read(header), payload: read(payload) };
}

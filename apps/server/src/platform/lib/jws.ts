import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { CompactSign } from "jose";

/** A new Ed25519 key pair: the public key raw, the private key as PKCS #8. */
export function newSigningKey(): { publicKey: Buffer; privateKey: Buffer } {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x } = privateKey.export({ format: "jwk" });
  return {
    publicKey: Buffer.from(x ?? "", "base64url"),
    privateKey: privateKey.export({ format: "der", type: "pkcs8" }),
  };
}

/** A compact JWS signed with Ed25519. It can be verified with the public key, without this service. */
export function signJws(
  key: { id: string; privateKey: Buffer },
  type: string,
  payload: Record<string, unknown>,
): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", kid: key.id, typ: type })
    .sign(createPrivateKey({ key: key.privateKey, format: "der", type: "pkcs8" }));
}

/** The public key as a member of a JWK set. */
export function publicJwk(key: { id: string; publicKey: Buffer }) {
  return {
    kid: key.id,
    kty: "OKP",
    crv: "Ed25519",
    x: key.publicKey.toString("base64url"),
    alg: "EdDSA",
    use: "sig",
  };
}

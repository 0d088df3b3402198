import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";

/** A new Ed25519 key: the public half raw, the private half as PKCS #8. */
export function newSigningKey(): { publicKey: Buffer; privateKey: Buffer } {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x } = privateKey.export({ format: "jwk" });
  return {
    publicKey: Buffer.from(x ?? "", "base64url"),
    privateKey: privateKey.export({ format: "der", type: "pkcs8" }),
  };
}

/** A compact JWS signed with Ed25519. Whoever has the public key can verify it without us. */
export function signJws(
  key: { id: string; privateKey: Buffer },
  type: string,
  payload: Record<string, unknown>,
): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "EdDSA", kid: key.id, typ: type })}.${encode(payload)}`;
  const privateKey = createPrivateKey({ key: key.privateKey, format: "der", type: "pkcs8" });
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}

/** The public half as a member of a JWK set. */
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

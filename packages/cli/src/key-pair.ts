import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

/** What the service asks for at least serves an endpoint of an afternoon, and is there at once; a key that is to stay is longer. */
export const keyBits = { temporary: 2048, lasting: 3072 } as const;

export async function newPrivateKey(bits: number): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", {
    modulusLength: bits,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return privateKey;
}

export function readPrivateKey(pem: string): KeyObject {
  return createPrivateKey(pem);
}

/** The body that registers the public half of the key under this name. Nothing of the private half is in it. */
export function registrationOf(privateKey: KeyObject, keyId: string) {
  const { n = "", e = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const jwk = { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: keyId } as const;
  return { key_id: keyId, algorithm: "RSA-OAEP-256", key_type: "RSA", jwk } as const;
}

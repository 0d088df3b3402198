import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

/** The minimum size is generated quickly and suffices for a temporary endpoint; lasting keys are longer. */
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

/** The body that registers the public key under this name. It holds nothing of the private key. */
export function registrationOf(privateKey: KeyObject, keyId: string) {
  const { n = "", e = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const jwk = { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: keyId } as const;
  return { key_id: keyId, algorithm: "RSA-OAEP-256", key_type: "RSA", jwk } as const;
}

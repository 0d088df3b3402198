import { toBase64 } from "./read-key.ts";

/** A key pair that was generated in this page. The private key is kept until the dialog is closed. */
export type KeyPair = { n: string; e: string; privateKey: CryptoKey; pem: string; jwk: JsonWebKey };

const algorithm = { name: "RSA-OAEP", hash: "SHA-256" } as const;
// 2048 bits are enough until about 2030, 4096 take seconds to make on a phone.
const modulusLength = 3072;

/** Browsers disable WebCrypto on a page that came over plain http from another machine. */
export function canMakeKeys(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}

export async function makeKeyPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey(
    { ...algorithm, modulusLength, publicExponent: new Uint8Array([1, 0, 1]) },
    true,
    ["encrypt", "decrypt"],
  );
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const jwk = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const { n, e } = jwk;
  if (n === undefined || e === undefined) throw new Error("The browser made a key without its numbers.");
  return { n, e, jwk, pem: pemOf(pkcs8), privateKey: await importKey({ format: "pkcs8", der: pkcs8 }) };
}

export function pemOf(pkcs8: Uint8Array): string {
  const lines = toBase64(pkcs8).match(/.{1,64}/g) ?? [];
  return ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
}

/** Not extractable, and for decrypting events only. */
export function importKey(
  key: { format: "pkcs8"; der: Uint8Array<ArrayBuffer> } | { format: "jwk"; jwk: JsonWebKey },
): Promise<CryptoKey> {
  return key.format === "jwk"
    ? crypto.subtle.importKey("jwk", key.jwk, algorithm, false, ["decrypt"])
    : crypto.subtle.importKey("pkcs8", key.der, algorithm, false, ["decrypt"]);
}

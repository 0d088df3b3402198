import type { CryptoKey } from "jose";
import { ownBytes } from "../bytes.ts";
import { encode } from "../cbor/encode.ts";
import type { CborKey, CborValue } from "../cbor/value.ts";
import { hmac256, label, type Single } from "./headers.ts";

/** HMAC 256/256 alone, as ISO/IEC 18013-5 has it. */
export async function verifyMac0(mac0: Single, key: CryptoKey, payload: Uint8Array): Promise<boolean> {
  if (mac0.protected.get(label.algorithm) !== hmac256 || mac0.authenticator.length !== 32) return false;
  const content = toBeMaced(mac0.protectedBytes, payload);
  return crypto.subtle.verify("HMAC", key, ownBytes(mac0.authenticator), content);
}

export async function makeMac0(key: CryptoKey, payload: Uint8Array): Promise<readonly CborValue[]> {
  const protectedBytes = encode(new Map<CborKey, CborValue>([[label.algorithm, hmac256]]));
  const tag = await crypto.subtle.sign("HMAC", key, toBeMaced(protectedBytes, payload));
  return [protectedBytes, new Map<CborKey, CborValue>(), null, new Uint8Array(tag)];
}

function toBeMaced(protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode(["MAC0", protectedBytes, new Uint8Array(), payload]);
}

import type { CryptoKey } from "jose";
import { ownBytes } from "../bytes.ts";
import { encode } from "../cbor/encode.ts";
import type { CborKey, CborMap, CborValue } from "../cbor/value.ts";
import { type EcAlgorithm, ecAlgorithms } from "../ec-algorithm.ts";
import { algorithmOf, label, type Single } from "./headers.ts";

/** `payload` is the detached content, for a structure without a payload. */
export async function verifySign1(
  sign1: Single,
  key: { publicKey: CryptoKey; algorithm: EcAlgorithm },
  payload: Uint8Array,
): Promise<boolean> {
  if (algorithmOf(sign1) !== key.algorithm) return false;
  const { hash, coordinateBytes } = ecAlgorithms[key.algorithm];
  if (sign1.authenticator.length !== 2 * coordinateBytes) return false;
  return crypto.subtle.verify(
    { name: "ECDSA", hash },
    key.publicKey,
    ownBytes(sign1.authenticator),
    toBeSigned(sign1.protectedBytes, payload),
  );
}

export type Sign1Order = {
  key: { privateKey: CryptoKey; algorithm: EcAlgorithm };
  payload: Uint8Array;
  isDetached?: boolean;
  protectedHeaders?: CborMap;
  unprotectedHeaders?: CborMap;
};

export async function signSign1(order: Sign1Order): Promise<readonly CborValue[]> {
  const { cose, hash } = ecAlgorithms[order.key.algorithm];
  const algorithm: readonly [CborKey, CborValue] = [label.algorithm, cose];
  const protectedBytes = encode(new Map<CborKey, CborValue>([algorithm, ...(order.protectedHeaders ?? [])]));
  const signature = await crypto.subtle.sign(
    { name: "ECDSA", hash },
    order.key.privateKey,
    toBeSigned(protectedBytes, order.payload),
  );
  return [
    protectedBytes,
    order.unprotectedHeaders ?? new Map<CborKey, CborValue>(),
    order.isDetached ? null : order.payload,
    new Uint8Array(signature),
  ];
}

function toBeSigned(protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode(["Signature1", protectedBytes, new Uint8Array(), payload]);
}

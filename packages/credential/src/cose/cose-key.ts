import type { CryptoKey } from "jose";
import { concat } from "../bytes.ts";
import { type CborKey, type CborMap, type CborValue, isMap } from "../cbor/value.ts";
import { CredentialError, malformedIn } from "../credential-error.ts";
import { type EcAlgorithm, ecAlgorithms, findEcAlgorithm } from "../ec-algorithm.ts";

const malformed = malformedIn("COSE");

/** A point on P-256, P-384 or P-521 (RFC 9053, 7.1.1). */
export type CoseKey = { algorithm: EcAlgorithm; point: Uint8Array<ArrayBuffer> };

const keyType = 1;
const [curve, x, y, privateValue] = [-1, -2, -3, -4];

export function readCoseKey(value: CborValue | undefined): CoseKey {
  if (!isMap(value) || value.has(privateValue)) throw malformed("not a public key");
  const curveId = value.get(curve);
  const algorithm = findEcAlgorithm(({ coseCurve }) => coseCurve === curveId);
  if (value.get(keyType) !== 2 || algorithm === null)
    throw new CredentialError("not_supported", "COSE: key of another kind");
  const size = ecAlgorithms[algorithm].coordinateBytes;
  const xBytes = value.get(x);
  const second = value.get(y);
  if (!(xBytes instanceof Uint8Array) || xBytes.length !== size) throw malformed("coordinate");
  if (typeof second === "boolean") {
    return { algorithm, point: concat(Uint8Array.of(second ? 3 : 2), xBytes) };
  }
  if (!(second instanceof Uint8Array) || second.length !== size) throw malformed("coordinate");
  return { algorithm, point: concat(Uint8Array.of(4), xBytes, second) };
}

/** Throws where the point is not on its curve. */
export async function importCoseKey(key: CoseKey, use: "ECDSA" | "ECDH"): Promise<CryptoKey> {
  try {
    const algorithm = { name: use, namedCurve: ecAlgorithms[key.algorithm].curve };
    return await crypto.subtle.importKey(
      "raw",
      key.point,
      algorithm,
      true,
      use === "ECDSA" ? ["verify"] : [],
    );
  } catch {
    throw malformed("point that is not on its curve");
  }
}

export async function writeCoseKey(publicKey: CryptoKey): Promise<CborMap> {
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const size = (point.length - 1) / 2;
  const algorithm = findEcAlgorithm(({ coordinateBytes }) => coordinateBytes === size);
  if (algorithm === null) throw malformed("key of another kind");
  return new Map<CborKey, CborValue>([
    [keyType, 2],
    [curve, ecAlgorithms[algorithm].coseCurve],
    [x, point.slice(1, 1 + size)],
    [y, point.slice(1 + size)],
  ]);
}

import { decode } from "../cbor/decode.ts";
import { type CborKey, type CborMap, type CborValue, isArray, isMap } from "../cbor/value.ts";
import { CredentialError, malformedIn } from "../credential-error.ts";
import { type EcAlgorithm, findEcAlgorithm } from "../ec-algorithm.ts";

const malformed = malformedIn("COSE");

/** RFC 9052, section 3.1; `x5chain` RFC 9360. */
export const label = { algorithm: 1, critical: 2, contentType: 3, type: 16, x5chain: 33 } as const;

export const hmac256 = 5;

export type Headers = { protectedBytes: Uint8Array; protected: CborMap; unprotected: CborMap };

/** The four parts of COSE_Sign1 and COSE_Mac0: headers, content, and what authenticates them. */
export type Single = Headers & { payload: Uint8Array | null; authenticator: Uint8Array };

export function readSingle(value: CborValue | undefined): Single {
  if (!isArray(value) || value.length !== 4) throw malformed("not four parts");
  const [protectedBytes, unprotected, payload, authenticator] = value;
  if (
    !(protectedBytes instanceof Uint8Array) ||
    !isMap(unprotected) ||
    !(payload === null || payload instanceof Uint8Array) ||
    !(authenticator instanceof Uint8Array)
  ) {
    throw malformed("part of another kind");
  }
  const headers = { protectedBytes, protected: readProtected(protectedBytes), unprotected };
  for (const key of headers.protected.keys()) {
    if (unprotected.has(key)) throw malformed("duplicate header");
  }
  if (headers.protected.has(label.critical) || unprotected.has(label.critical)) {
    throw new CredentialError("not_supported", "COSE: critical header");
  }
  return { ...headers, payload, authenticator };
}

function readProtected(bytes: Uint8Array): CborMap {
  if (bytes.length === 0) return new Map<CborKey, CborValue>();
  const value = decode(bytes, { maxBytes: 64 * 1024 });
  if (!isMap(value)) throw malformed("protected headers that are no map");
  return value;
}

/** Null for another algorithm, or one outside of the protected header. */
export function algorithmOf(headers: Headers): EcAlgorithm | null {
  const id = headers.protected.get(label.algorithm);
  return findEcAlgorithm(({ cose, coseOnCurve }) => id === cose || id === coseOnCurve);
}

/** One certificate or several, signer first. Empty where there is none. */
export function x5chainOf(headers: Headers): readonly Uint8Array[] {
  const value = headers.protected.get(label.x5chain) ?? headers.unprotected.get(label.x5chain);
  if (value === undefined) return [];
  const chain = isArray(value) ? value : [value];
  return chain.map((certificate) => {
    if (!(certificate instanceof Uint8Array)) throw malformed("certificate that is no byte string");
    return certificate;
  });
}

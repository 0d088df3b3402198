import { CredentialError } from "../credential-error.ts";
import { type CborMap, type CborValue, isMap } from "./value.ts";

export function anyMap(value: CborValue | undefined): CborMap {
  if (!isMap(value)) throw new CredentialError("malformed", "CBOR: not a map");
  return value;
}

/**
 * A map with all keys of `required` and no others except `optional`. Without a signature, an unknown key may
 * be a damaged known one, and its value would be lost unnoticed.
 */
export function closedMap(
  value: CborValue | undefined,
  required: readonly string[],
  optional: readonly string[] = [],
): CborMap {
  const map = anyMap(value);
  for (const key of required) {
    if (!map.has(key)) throw new CredentialError("malformed", `CBOR: ${key} is missing`);
  }
  for (const key of map.keys()) {
    if (typeof key !== "string" || !(required.includes(key) || optional.includes(key))) {
      throw new CredentialError("malformed", "CBOR: unknown key");
    }
  }
  return map;
}

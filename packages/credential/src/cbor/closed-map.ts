import { CredentialError } from "../credential-error.ts";
import { type CborMap, type CborValue, isMap } from "./value.ts";

/**
 * A map that has all keys of `required` and none besides `optional`. In bytes that no signature covers, an
 * unknown key may be a known one that was damaged, and then what it held would be missing without a sign.
 */
export function closedMap(
  value: CborValue | undefined,
  required: readonly string[],
  optional: readonly string[] = [],
): CborMap {
  if (!isMap(value)) throw new CredentialError("malformed", "CBOR: not a map");
  for (const key of required) {
    if (!value.has(key)) throw new CredentialError("malformed", `CBOR: ${key} is missing`);
  }
  for (const key of value.keys()) {
    if (typeof key !== "string" || !(required.includes(key) || optional.includes(key))) {
      throw new CredentialError("malformed", "CBOR: unknown key");
    }
  }
  return value;
}

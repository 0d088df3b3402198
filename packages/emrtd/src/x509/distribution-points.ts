import { readWhole } from "../ber/read.ts";
import { contextConstructed, contextPrimitive } from "../ber/tag.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { findExtension } from "./find-extension.ts";

const limits = { maxBytes: 64 * 1024, maxDepth: 12, maxNodes: 2_000 } as const;
const distributionPoints = "2.5.29.31";
const maxAddresses = 8;

/**
 * The http and https addresses where an authority publishes its revocation lists. Only a hint: unreadable
 * ones give none, because the certificate is valid without them.
 */
export function revocationListAddresses(certificate: Uint8Array): readonly string[] {
  try {
    const { bytes: tbs } = readWhole(certificate, limits).at(0, "The content of a certificate");
    const value = findExtension({ tbs }, distributionPoints);
    if (value === null) return [];
    const addresses = readWhole(value, limits)
      .children()
      .flatMap((point) => point.find(contextConstructed(0))?.find(contextConstructed(0))?.children() ?? [])
      .filter(({ tag }) => tag === contextPrimitive(6))
      .map((name) => new TextDecoder("latin1").decode(name.value))
      .filter((address) => /^https?:\/\/[\x21-\x7e]{1,1000}$/i.test(address));
    return [...new Set(addresses)].slice(0, maxAddresses);
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return [];
  }
}

import { CredentialError } from "../credential-error.ts";
import type { Purpose, TrustAnchor } from "../trust-anchor.ts";

export type StatusList = {
  uri: string;
  bits: StatusBits;
  /** Inflated. The first status is in the lowest bits of the first byte. */
  entries: Uint8Array;
  issuedAt: Date;
  expiresAt: Date | null;
  /** For how long it may be kept before it is fetched again. */
  ttlSeconds: number | null;
};

export type StatusListOptions = {
  /** The list's address, as in the credential. */
  uri: string;
  anchors: readonly TrustAnchor[];
  /** Purpose of the credential: its issuers may also revoke it. */
  purpose: Purpose;
  now: Date;
};

export const statusBits = [1, 2, 4, 8] as const;
export type StatusBits = (typeof statusBits)[number];

/** The content of a token, in either form. */
export type StatusListClaims = Omit<StatusList, "entries" | "bits"> & {
  bits: unknown;
  compressed: Uint8Array;
};

/** A list of 2^27 statuses of one bit. */
export const maxEntriesBytes = 16 * 1024 * 1024;

/** The last step for both forms of a token, once its signature was found to be right. */
export async function openStatusList(claims: StatusListClaims, now: Date): Promise<StatusList> {
  const { compressed, bits, ...rest } = claims;
  const known = statusBits.find((size) => size === bits);
  if (known === undefined) throw new CredentialError("malformed", "Status list: statuses of another size");
  if (rest.ttlSeconds !== null && !(rest.ttlSeconds > 0 && Number.isFinite(rest.ttlSeconds)))
    throw new CredentialError("malformed", "Status list: no time to live");
  if (rest.expiresAt !== null && now >= rest.expiresAt)
    throw new CredentialError("expired", "Status list: past its end");
  return { ...rest, bits: known, entries: await inflate(compressed) };
}

/** RFC 1950. Nothing is taken in beyond the bound, however small the input. */
async function inflate(compressed: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([Uint8Array.from(compressed)]).stream();
  const reader = stream.pipeThrough(new DecompressionStream("deflate")).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      length += part.value.length;
      if (length > maxEntriesBytes) throw new CredentialError("too_large", "Status list: too many statuses");
    }
  } catch (error) {
    await reader.cancel().catch(() => {});
    if (error instanceof CredentialError) throw error;
    throw new CredentialError("malformed", "Status list: does not inflate");
  }
  const entries = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    entries.set(part, at);
    at += part.length;
  }
  return entries;
}

/**
 * `unknown` for an index beyond the list and for values that only the issuer defines. Neither means valid.
 */
export function statusAt(list: StatusList, index: number): "valid" | "revoked" | "suspended" | "unknown" {
  const perByte = 8 / list.bits;
  const byte = list.entries[Math.floor(index / perByte)];
  if (!Number.isSafeInteger(index) || byte === undefined) return "unknown";
  const value = (byte >> ((index % perByte) * list.bits)) & (2 ** list.bits - 1);
  return meanings[value] ?? "unknown";
}

const meanings = ["valid", "revoked", "suspended"] as const;

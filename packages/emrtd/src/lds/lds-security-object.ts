import { readWhole, type Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { integer, octetString, printableString, sequence } from "../ber/write.ts";
import { type DigestName, digestForOid, digests, hashAlgorithm } from "../crypto/digests.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { type DataGroupNumber, isDataGroupNumber } from "./data-group.ts";
import { maxFileBytes } from "./lds-file.ts";

/** The signed list of hashes: what it does not name does not belong to the document. */
export type LdsSecurityObject = {
  readonly version: 0 | 1;
  readonly digest: DigestName;
  readonly hashes: ReadonlyMap<DataGroupNumber, Uint8Array>;
  /** From version 1 on; unlike those in EF.COM these are signed. */
  readonly ldsVersion: string | null;
  readonly unicodeVersion: string | null;
};

export function readLdsSecurityObject(bytes: Uint8Array): LdsSecurityObject {
  const object = readWhole(bytes, { maxBytes: maxFileBytes, maxNodes: 1000 }).expect(
    tags.sequence,
    "The security object",
  );
  const version = object.at(0, "The version of the security object").smallInteger();
  if (version !== 0 && version !== 1) {
    throw new EmrtdError("LDS_UNSUPPORTED", "The security object has an unknown version");
  }
  const algorithm = object.at(1, "The hash algorithm", tags.sequence).at(0, "The hash algorithm").oid();
  const digest = digestForOid(algorithm);
  if (digest === null) {
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The security object uses an unknown hash algorithm");
  }
  const hashes = readHashes(
    object.at(2, "The hashes of the data groups", tags.sequence),
    digests[digest].bytes,
  );
  const versionInfo = object.children()[3];
  return {
    version,
    digest,
    hashes,
    ldsVersion:
      versionInfo?.expect(tags.sequence, "The version info").at(0, "The LDS version").text() ?? null,
    unicodeVersion: versionInfo?.at(1, "The Unicode version").text() ?? null,
  };
}

function readHashes(list: Tlv, hashBytes: number): ReadonlyMap<DataGroupNumber, Uint8Array> {
  const hashes = new Map<DataGroupNumber, Uint8Array>();
  for (const entry of list.children()) {
    entry.expect(tags.sequence, "The hash of a data group");
    const number = entry.at(0, "The number of a data group").smallInteger();
    if (!isDataGroupNumber(number))
      throw new EmrtdError("LDS_INVALID", "A data group number is out of range");
    // A second hash for the same group would let a verifier and a reader disagree about which one counts.
    if (hashes.has(number)) throw new EmrtdError("LDS_INVALID", "A data group is listed twice");
    const hash = entry.at(1, "The hash of a data group").octetString();
    if (hash.length !== hashBytes) throw new EmrtdError("LDS_INVALID", "A hash has the wrong length");
    hashes.set(number, hash);
  }
  if (hashes.size === 0) throw new EmrtdError("LDS_INVALID", "The security object lists no data group");
  return hashes;
}

type LdsSecurityObjectContent = {
  readonly digest: DigestName;
  readonly hashes: ReadonlyMap<DataGroupNumber, Uint8Array>;
  /** Makes it version 1. */
  readonly versions?: { readonly ldsVersion: string; readonly unicodeVersion: string };
};

export function buildLdsSecurityObject(content: LdsSecurityObjectContent): Uint8Array {
  const hashes = [...content.hashes]
    .sort(([a], [b]) => a - b)
    .map(([number, hash]) => sequence(integer(number), octetString(hash)));
  const { versions } = content;
  return sequence(
    integer(versions === undefined ? 0 : 1),
    hashAlgorithm(content.digest),
    sequence(...hashes),
    ...(versions === undefined
      ? []
      : [sequence(printableString(versions.ldsVersion), printableString(versions.unicodeVersion))]),
  );
}

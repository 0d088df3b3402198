import { readTlv, readWhole, type Tlv } from "../ber/read.ts";
import { contextConstructed, contextPrimitive, tags } from "../ber/tag.ts";
import { equal, toHex } from "../bytes.ts";
import { readSignatureScheme, type SignatureScheme } from "../crypto/signature-scheme.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { readAuthorityKeyId } from "./certificate.ts";
import { readExtension } from "./extension.ts";
import { type DistinguishedName, readName } from "./name.ts";

/** Country signing authorities revoke signers by the dozen; the bounds leave room for a hundred thousand. */
const limits = { maxBytes: 16 * 1024 * 1024, maxDepth: 12, maxNodes: 1_500_000 } as const;

const extensionOids = {
  crlNumber: "2.5.29.20",
  deltaIndicator: "2.5.29.27",
  authorityKeyId: "2.5.29.35",
} as const;

/**
 * Restricts a list to part of the certificates, or lets it cover other issuers (an indirect list). Read as
 * complete, such a list would hide a revoked signer. So it is refused even if the extension is not marked
 * critical. A list of all end entities is complete for signers (`isCompleteForSigners`).
 */
const issuingDistributionPoint = "2.5.29.28";

/** In an entry: this one and those after it are of another issuer. */
const certificateIssuer = "2.5.29.29";

/** Extensions of an entry that say why or since when, and change nothing about it. */
const harmlessEntryExtensions: ReadonlySet<string> = new Set([
  "2.5.29.21", // reason
  "2.5.29.24", // date of invalidity
]);

export type CertificateRevocationList = {
  readonly der: Uint8Array;
  readonly tbs: Uint8Array;
  readonly signature: Uint8Array;
  readonly signatureScheme: SignatureScheme;
  readonly issuer: DistinguishedName;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  /** Hexadecimal; null when the list has none. */
  readonly number: string | null;
  readonly authorityKeyId: Uint8Array | null;
  /** When each serial number, in hexadecimal as encoded, was revoked. */
  readonly revokedAt: ReadonlyMap<string, Date>;
};

export function readCrl(bytes: Uint8Array): CertificateRevocationList {
  const outer = readWhole(bytes, limits).expect(tags.sequence, "A revocation list");
  const tbs = outer.at(0, "The content of a revocation list", tags.sequence);
  const algorithm = outer.at(1, "The signature algorithm of a revocation list", tags.sequence);
  const fields = tbs.children();
  let next = fields[0]?.tag === tags.integer ? 1 : 0;
  const field = (what: string): Tlv => {
    const found = fields[next++];
    if (found === undefined) throw new EmrtdError("CRL_INVALID", `${what} of a revocation list is missing`);
    return found;
  };
  if (!equal(field("The inner signature algorithm").bytes, algorithm.bytes)) {
    throw new EmrtdError("CRL_INVALID", "A revocation list names two different signature algorithms");
  }
  const issuer = readName(field("The issuer"));
  const thisUpdate = field("The time").time();
  const isTime = (tlv: Tlv | undefined) => tlv?.tag === tags.utcTime || tlv?.tag === tags.generalizedTime;
  const nextUpdate = isTime(fields[next]) ? field("The next time").time() : null;
  const entries = fields[next]?.tag === tags.sequence ? fields[next++] : undefined;
  const extensions = readCrlExtensions(
    fields.slice(next).find((tlv) => tlv.tag === contextConstructed(0)),
    issuer,
  );
  return {
    der: outer.bytes,
    tbs: tbs.bytes,
    signature: outer
      .at(2, "The signature of a revocation list")
      .wholeBytes("The signature of a revocation list"),
    signatureScheme: readSignatureScheme(readTlv(algorithm.bytes)).scheme,
    issuer,
    thisUpdate,
    nextUpdate,
    number: extensions.number,
    authorityKeyId: extensions.authorityKeyId,
    revokedAt: readEntries(entries),
  };
}

/** The issuer that a list names, also if the rest of it is refused; null if unreadable. */
export function readCrlIssuer(bytes: Uint8Array): DistinguishedName | null {
  try {
    const fields = readWhole(bytes, limits)
      .at(0, "The content of a revocation list", tags.sequence)
      .children();
    const issuer = fields[fields[0]?.tag === tags.integer ? 2 : 1];
    return issuer === undefined ? null : readName(issuer);
  } catch (error) {
    if (isEmrtdError(error)) return null;
    throw error;
  }
}

function readEntries(entries: Tlv | undefined): ReadonlyMap<string, Date> {
  const revokedAt = new Map<string, Date>();
  if (entries === undefined) return revokedAt;
  for (const entry of entries.iterate()) {
    const serial = entry
      .expect(tags.sequence, "An entry of a revocation list")
      .at(0, "A serial number", tags.integer);
    if (serial.valueLength === 0 || serial.valueLength > 64) {
      throw new EmrtdError("CRL_INVALID", "A serial number in a revocation list is empty or too long");
    }
    revokedAt.set(toHex(serial.value), entry.at(1, "The time of a revocation").time());
    const extensions = entry.children()[2];
    if (extensions !== undefined) checkEntryExtensions(extensions);
  }
  return revokedAt;
}

/** RFC 5280, section 5.3: a list with an unsupported entry must not be used. */
function checkEntryExtensions(extensions: Tlv): void {
  for (const extension of extensions.expect(tags.sequence, "The extensions of an entry").iterate()) {
    const { oid, critical } = readExtension(extension);
    if (oid === certificateIssuer || (critical && !harmlessEntryExtensions.has(oid))) {
      throw new EmrtdError(
        "CRL_INVALID",
        `A revocation list with the extension ${oid} in an entry is of several issuers or not understood`,
      );
    }
  }
}

/** Negative if the first is older, zero if unknown. */
export function compareListAge(
  one: Pick<CertificateRevocationList, "thisUpdate" | "number">,
  other: Pick<CertificateRevocationList, "thisUpdate" | "number">,
): number {
  const difference = one.thisUpdate.getTime() - other.thisUpdate.getTime();
  if (difference !== 0) return difference;
  // A list without a number counts as older than any with one, so that all lists have an order.
  const first = one.number === null ? -1n : BigInt(`0x${one.number}`);
  const second = other.number === null ? -1n : BigInt(`0x${other.number}`);
  return first < second ? -1 : first > second ? 1 : 0;
}

function readCrlExtensions(
  wrapper: Tlv | undefined,
  issuer: DistinguishedName,
): {
  number: string | null;
  authorityKeyId: Uint8Array | null;
} {
  let number: string | null = null;
  let authorityKeyId: Uint8Array | null = null;
  if (wrapper === undefined) return { number, authorityKeyId };
  for (const extension of wrapper.at(0, "The extensions of a revocation list", tags.sequence).children()) {
    const { oid, critical, value } = readExtension(extension);
    // Both only hint: at the order of two lists of one moment, and at the key to try first.
    if (oid === extensionOids.crlNumber) {
      number = hint(critical, () => toHex(readWhole(value).unsignedBytes()));
    } else if (oid === extensionOids.authorityKeyId) {
      authorityKeyId = hint(critical, () => readAuthorityKeyId(readWhole(value)));
    } else if (oid === issuingDistributionPoint && isCompleteForSigners(readWhole(value), issuer)) {
      // It says nothing about authorities; what earlier lists say about those still counts.
    } else if (oid === extensionOids.deltaIndicator || oid === issuingDistributionPoint || critical) {
      throw new EmrtdError(
        "CRL_INVALID",
        `A revocation list with the extension ${oid} is not complete or not understood`,
      );
    }
  }
  return { number, authorityKeyId };
}

/**
 * The list holds all end entities of its issuer (`onlyContainsUserCerts`) and has no other restriction than
 * the issuer's own name. Any other distribution point, also an address, may name one part of several.
 */
function isCompleteForSigners(point: Tlv, issuer: DistinguishedName): boolean {
  const fields = point.expect(tags.sequence, "An issuing distribution point").children();
  const namesIssuer = (field: Tlv) => {
    const names = field.find(contextConstructed(0))?.children();
    const isIssuer = (name: Tlv) =>
      name.tag === contextConstructed(4) && readName(name.at(0, "A name")).key === issuer.key;
    return names !== undefined && names.length > 0 && names.every(isIssuer);
  };
  return (
    fields.some(({ tag }) => tag === contextPrimitive(1)) &&
    fields.every((field) =>
      field.tag === contextPrimitive(1)
        ? field.valueLength === 1 && field.value[0] === 0xff
        : field.tag === contextConstructed(0) && namesIssuer(field),
    )
  );
}

/** An unreadable extension counts as absent, unless it is marked critical. */
function hint<T>(critical: boolean, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!isEmrtdError(error) || critical) throw error;
    return null;
  }
}

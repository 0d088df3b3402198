import { readTlv, readWhole, type Tlv } from "../ber/read.ts";
import { contextConstructed, TAG } from "../ber/tag.ts";
import { equal, toHex } from "../bytes.ts";
import { readSignatureScheme, type SignatureScheme } from "../crypto/signature-scheme.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { readAuthorityKeyId } from "./certificate.ts";
import { type DistinguishedName, readName } from "./name.ts";

/** Country signing authorities revoke signers by the dozen; the bounds leave room for a hundred thousand. */
const LIMITS = { maxBytes: 16 * 1024 * 1024, maxDepth: 12, maxNodes: 1_000_000 } as const;

const EXTENSION = {
  crlNumber: "2.5.29.20",
  deltaIndicator: "2.5.29.27",
  authorityKeyId: "2.5.29.35",
} as const;

/** Restricts a list to part of the certificates; such a list would make a revoked signer look good. */
const ISSUING_DISTRIBUTION_POINT = "2.5.29.28";

export interface CertificateRevocationList {
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
}

export function readCrl(bytes: Uint8Array): CertificateRevocationList {
  const outer = readWhole(bytes, LIMITS).expect(TAG.sequence, "A revocation list");
  const tbs = outer.at(0, "The content of a revocation list", TAG.sequence);
  const algorithm = outer.at(1, "The signature algorithm of a revocation list", TAG.sequence);
  const fields = tbs.children();
  let next = fields[0]?.tag === TAG.integer ? 1 : 0;
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
  const isTime = (tlv: Tlv | undefined) => tlv?.tag === TAG.utcTime || tlv?.tag === TAG.generalizedTime;
  const nextUpdate = isTime(fields[next]) ? field("The next time").time() : null;
  const entries = fields[next]?.tag === TAG.sequence ? fields[next++] : undefined;
  const extensions = readCrlExtensions(fields.slice(next).find((tlv) => tlv.tag === contextConstructed(0)));
  return {
    der: outer.bytes,
    tbs: tbs.bytes,
    signature: outer.at(2, "The signature of a revocation list").bitString().bytes,
    signatureScheme: readSignatureScheme(readTlv(algorithm.bytes)).scheme,
    issuer,
    thisUpdate,
    nextUpdate,
    number: extensions.number,
    authorityKeyId: extensions.authorityKeyId,
    revokedAt: readEntries(entries),
  };
}

function readEntries(entries: Tlv | undefined): ReadonlyMap<string, Date> {
  const revokedAt = new Map<string, Date>();
  if (entries === undefined) return revokedAt;
  for (const entry of entries.iterate()) {
    const serial = entry
      .expect(TAG.sequence, "An entry of a revocation list")
      .at(0, "A serial number", TAG.integer);
    if (serial.valueLength === 0 || serial.valueLength > 64) {
      throw new EmrtdError("CRL_INVALID", "A serial number in a revocation list is empty or too long");
    }
    revokedAt.set(toHex(serial.value), entry.at(1, "The time of a revocation").time());
  }
  return revokedAt;
}

function readCrlExtensions(wrapper: Tlv | undefined): {
  number: string | null;
  authorityKeyId: Uint8Array | null;
} {
  let number: string | null = null;
  let authorityKeyId: Uint8Array | null = null;
  if (wrapper === undefined) return { number, authorityKeyId };
  for (const extension of wrapper.at(0, "The extensions of a revocation list", TAG.sequence).children()) {
    const parts = extension.expect(TAG.sequence, "An extension").children();
    const oid = extension.at(0, "The name of an extension").oid();
    const critical = parts[1]?.tag === TAG.boolean ? parts[1].boolean() : false;
    const value = extension
      .at(parts[1]?.tag === TAG.boolean ? 2 : 1, "The value of an extension")
      .octetString();
    if (oid === EXTENSION.crlNumber) {
      number = toHex(readWhole(value).unsignedBytes());
    } else if (oid === EXTENSION.authorityKeyId) {
      authorityKeyId = readAuthorityKeyId(readWhole(value));
    } else if (oid === EXTENSION.deltaIndicator || oid === ISSUING_DISTRIBUTION_POINT || critical) {
      throw new EmrtdError(
        "CRL_INVALID",
        `A revocation list with the extension ${oid} is not complete or not understood`,
      );
    }
  }
  return { number, authorityKeyId };
}

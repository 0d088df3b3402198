import { oids } from "../../ber/oid.ts";
import { readTlv } from "../../ber/read.ts";
import { contextConstructed, tags } from "../../ber/tag.ts";
import {
  contextTag,
  contextValue,
  integer,
  octetString,
  oid,
  sequence,
  setOf,
  tlv,
  utcTime,
} from "../../ber/write.ts";
import { concat } from "../../bytes.ts";
import { attributeOids } from "../../cms/signed-data.ts";
import { type DigestName, hashAlgorithm } from "../../crypto/digests.ts";
import type { SignatureScheme } from "../../crypto/signature-scheme.ts";
import type { DataGroupNumber } from "../../lds/data-group.ts";
import { buildLdsSecurityObject } from "../../lds/lds-security-object.ts";
import { buildSod } from "../../lds/sod.ts";
import { readCertificate } from "../../x509/certificate.ts";
import { digestOf, type SigningKey, signatureAlgorithm } from "./signing-key.ts";

export type MessageSigner = {
  readonly certificate: Uint8Array;
  readonly key: SigningKey;
  readonly scheme: SignatureScheme;
};

export type MessageOptions = {
  /** Null leaves the attribute out, as several states do. */
  readonly signedAt: Date | null;
  readonly identifySignerBy: "issuer_and_serial" | "subject_key_id";
  /** Deviations from the standard that real states show, to be put into a message on purpose. */
  readonly quirks?: MessageQuirks;
};

type MessageQuirks = {
  readonly contentType?: string;
  /** The content type in the signed attribute, if it differs from the outer one. */
  readonly signedContentType?: string;
  readonly signerId?: Uint8Array;
  readonly signatureAlgorithm?: Uint8Array;
  readonly sign?: (message: Uint8Array) => Uint8Array;
  readonly withoutSignedAttributes?: boolean;
  /** In BER with an indefinite length and the content in pieces. */
  readonly indefiniteLength?: boolean;
};

/** CMS SignedData with signed attributes, as security objects and master lists are. */
export function signMessage(
  contentType: string,
  content: Uint8Array,
  { certificate, key, scheme }: MessageSigner,
  { signedAt, identifySignerBy, quirks = {} }: MessageOptions,
): Uint8Array {
  const digest = digestOf(scheme.hash, content);
  const attribute = (type: string, value: Uint8Array) => sequence(oid(type), setOf(value));
  const attributes = setOf(
    attribute(attributeOids.contentType, oid(quirks.signedContentType ?? contentType)),
    attribute(attributeOids.messageDigest, octetString(digest)),
    ...(signedAt === null ? [] : [attribute(attributeOids.signingTime, utcTime(signedAt))]),
  );
  const sign = quirks.sign ?? ((message: Uint8Array) => key.sign(scheme, message));
  const withAttributes = quirks.withoutSignedAttributes !== true;
  const signerInfo = sequence(
    integer(identifySignerBy === "issuer_and_serial" ? 1 : 3),
    quirks.signerId ?? signerId(certificate, identifySignerBy),
    hashAlgorithm(scheme.hash),
    ...(withAttributes ? [contextTag(0, readTlv(attributes).value)] : []),
    quirks.signatureAlgorithm ?? signatureAlgorithm(scheme),
    octetString(sign(withAttributes ? attributes : content)),
  );
  const outer = quirks.indefiniteLength === true ? indefinite : tlv;
  const middle = Math.floor(content.length / 2);
  const octets =
    quirks.indefiniteLength === true
      ? indefinite(0x24, octetString(content.subarray(0, middle)), octetString(content.subarray(middle)))
      : octetString(content);
  const signedData = outer(
    tags.sequence,
    integer(3),
    setOf(hashAlgorithm(scheme.hash)),
    outer(tags.sequence, oid(contentType), outer(contextConstructed(0), octets)),
    contextTag(0, certificate),
    setOf(signerInfo),
  );
  return outer(tags.sequence, oid(oids.signedData), outer(contextConstructed(0), signedData));
}

function indefinite(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  return concat(Uint8Array.of(tag, 0x80), ...content, Uint8Array.of(0, 0));
}

function signerId(certificate: Uint8Array, by: MessageOptions["identifySignerBy"]): Uint8Array {
  const { subjectKeyId } = readCertificate(certificate);
  if (by === "subject_key_id" && subjectKeyId !== null) return contextValue(0, subjectKeyId);
  const fields = readTlv(certificate).at(0, "The content of a certificate").children();
  const [serial, issuer] = [fields[1], fields[3]];
  if (serial === undefined || issuer === undefined)
    throw new TypeError("The certificate of a signer is incomplete");
  return sequence(issuer.bytes, serial.bytes);
}

type SecurityObjectRequest = {
  readonly groupHash: DigestName;
  readonly dataGroups: ReadonlyMap<DataGroupNumber, Uint8Array>;
  readonly signer: MessageSigner;
  readonly options: MessageOptions;
};

/** EF.SOD over these data groups. */
export function signSecurityObject({
  groupHash,
  dataGroups,
  signer,
  options,
}: SecurityObjectRequest): Uint8Array {
  const hashes = new Map([...dataGroups].map(([number, file]) => [number, digestOf(groupHash, file)]));
  const versions = { ldsVersion: "1.8", unicodeVersion: "6.3.0" };
  const content = buildLdsSecurityObject({ digest: groupHash, hashes, versions });
  return buildSod(
    signMessage(options.quirks?.contentType ?? oids.ldsSecurityObject, content, signer, options),
  );
}

/** A CSCA master list of these certificates. */
export function signMasterList(
  certificates: readonly Uint8Array[],
  signer: MessageSigner,
  options: MessageOptions,
): Uint8Array {
  return signMessage(oids.cscaMasterList, sequence(integer(0), setOf(...certificates)), signer, options);
}

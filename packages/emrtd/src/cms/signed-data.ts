import { oids } from "../ber/oid.ts";
import { readWhole, type Tlv } from "../ber/read.ts";
import { contextConstructed, contextPrimitive, tags } from "../ber/tag.ts";
import { tlv } from "../ber/write.ts";
import type { DigestName } from "../crypto/digests.ts";
import { type ReadScheme, readHashAlgorithm, readSignatureScheme } from "../crypto/signature-scheme.ts";
import { EmrtdError } from "../emrtd-error.ts";

export const attributeOids = {
  contentType: "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4",
  signingTime: "1.2.840.113549.1.9.5",
} as const;

const singleValued: ReadonlySet<string> = new Set(Object.values(attributeOids));

export type SignerId =
  | { readonly kind: "issuer_and_serial"; readonly encodedIssuer: Uint8Array; readonly serial: string }
  | { readonly kind: "subject_key_id"; readonly keyId: Uint8Array };

type SignedAttributes = {
  /** The octets that were signed: the attributes under the tag of a SET. */
  readonly signed: Uint8Array;
  readonly contentType: string;
  readonly messageDigest: Uint8Array;
  readonly signingTime: Date | null;
};

export type SignerInfo = {
  readonly id: SignerId;
  readonly digest: DigestName;
  readonly attributes: SignedAttributes | null;
  readonly scheme: ReadScheme;
  readonly signature: Uint8Array;
};

/** A CMS SignedData as read; nothing in it has been checked. */
export type SignedData = {
  readonly contentType: string;
  readonly content: Uint8Array;
  /** The encoded certificates, unread. */
  readonly certificates: readonly Uint8Array[];
  readonly signers: readonly SignerInfo[];
};

type SignedDataLimits = {
  readonly maxBytes: number;
};

const maxSigners = 8;
const maxCertificates = 64;

export function readSignedData(bytes: Uint8Array, limits: SignedDataLimits): SignedData {
  const contentInfo = readWhole(bytes, { maxBytes: limits.maxBytes, maxDepth: 24, maxNodes: 20_000 });
  contentInfo.expect(tags.sequence, "A signed message");
  if (contentInfo.at(0, "The type of a signed message").oid() !== oids.signedData) {
    throw new EmrtdError("CMS_INVALID", "The message is not CMS SignedData");
  }
  const signedData = contentInfo
    .at(1, "The content of a signed message", contextConstructed(0))
    .at(0, "The signed data", tags.sequence);
  signedData.at(0, "The version of the signed data", tags.integer);
  signedData.at(1, "The digest algorithms of the signed data", tags.set);
  const encapsulated = signedData.at(2, "The encapsulated content", tags.sequence);
  const content = encapsulated.find(contextConstructed(0));
  if (content === null) throw new EmrtdError("CMS_INVALID", "The signed data has no content");

  let certificates: readonly Tlv[] = [];
  let signerInfos: Tlv | null = null;
  const fields = signedData.children();
  for (let index = 3; index < fields.length; index++) {
    const field = signedData.at(index, "A field of the signed data");
    if (field.tag === contextConstructed(0)) certificates = field.children();
    else if (field.tag === tags.set) signerInfos = field;
    else if (field.tag !== contextConstructed(1)) {
      throw new EmrtdError("CMS_INVALID", "The signed data has an unexpected field");
    }
  }
  if (signerInfos === null) throw new EmrtdError("CMS_INVALID", "The signed data has no signer infos");
  if (certificates.length > maxCertificates)
    throw new EmrtdError("CMS_INVALID", "There are too many certificates");
  if (signerInfos.children().length > maxSigners)
    throw new EmrtdError("CMS_INVALID", "There are too many signers");
  const encoded: Uint8Array[] = [];
  for (const certificate of certificates)
    if (certificate.tag === tags.sequence) encoded.push(certificate.bytes);
  return {
    contentType: encapsulated.at(0, "The type of the encapsulated content").oid(),
    content: content.at(0, "The encapsulated octets").octetString(),
    certificates: encoded,
    signers: signerInfos.children().map(readSignerInfo),
  };
}

function readSignerInfo(info: Tlv): SignerInfo {
  const fields = info.expect(tags.sequence, "A signer info").children();
  info.at(0, "The version of a signer info", tags.integer);
  const id = readSignerId(info.at(1, "The identifier of a signer"));
  const digest = readHashAlgorithm(info.at(2, "The digest algorithm of a signer"));
  const hasAttributes = fields[3]?.tag === contextConstructed(0);
  const attributes = hasAttributes && fields[3] !== undefined ? readAttributes(fields[3]) : null;
  const next = hasAttributes ? 4 : 3;
  return {
    id,
    digest,
    attributes,
    scheme: readSignatureScheme(info.at(next, "The signature algorithm of a signer"), digest),
    signature: info.at(next + 1, "The signature of a signer").octetString(),
  };
}

function readSignerId(id: Tlv): SignerId {
  if (id.tag === tags.sequence) {
    return {
      kind: "issuer_and_serial",
      encodedIssuer: id.at(0, "The issuer of a signer's certificate", tags.sequence).bytes,
      serial: id.at(1, "The serial number of a signer's certificate", tags.integer).valueHex,
    };
  }
  if (id.tag === contextPrimitive(0) || id.tag === contextConstructed(0)) {
    return { kind: "subject_key_id", keyId: id.implicitOctetString() };
  }
  throw new EmrtdError("CMS_INVALID", "The identifier of a signer is of no known kind");
}

function readAttributes(attributes: Tlv): SignedAttributes {
  const values = new Map<string, Tlv>();
  for (const attribute of attributes.children()) {
    const type = attribute
      .expect(tags.sequence, "A signed attribute")
      .at(0, "The type of a signed attribute")
      .oid();
    const set = attribute.at(1, "The value of a signed attribute", tags.set);
    if (values.has(type)) throw new EmrtdError("CMS_INVALID", "A signed attribute occurs twice");
    if (singleValued.has(type) && set.children().length !== 1) {
      throw new EmrtdError("CMS_INVALID", "A signed attribute must have one value");
    }
    values.set(type, set.at(0, "The value of a signed attribute"));
  }
  const contentType = values.get(attributeOids.contentType);
  const messageDigest = values.get(attributeOids.messageDigest);
  if (contentType === undefined || messageDigest === undefined) {
    throw new EmrtdError("CMS_INVALID", "The signed attributes lack the content type or the message digest");
  }
  return {
    signed: tlv(tags.set, attributes.value),
    contentType: contentType.oid(),
    messageDigest: messageDigest.octetString(),
    signingTime: values.get(attributeOids.signingTime)?.time() ?? null,
  };
}

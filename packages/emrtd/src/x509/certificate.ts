import { readTlv, readWhole, type Tlv } from "../ber/read.ts";
import { contextConstructed, contextPrimitive, tags } from "../ber/tag.ts";
import { equal, toHex } from "../bytes.ts";
import { type PublicKey, readPublicKey } from "../crypto/public-key.ts";
import { readSignatureScheme, type SignatureScheme } from "../crypto/signature-scheme.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { readExtension } from "./extension.ts";
import { type DistinguishedName, readName } from "./name.ts";

/** The largest certificate of two real master lists has under 4 kB. */
const limits = { maxBytes: 64 * 1024, maxDepth: 16, maxNodes: 4096 } as const;

const extensionOids = {
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  privateKeyUsagePeriod: "2.5.29.16",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  documentTypeList: "2.23.136.1.1.6.2",
} as const;

/** A key id longer than any hash is none. */
const maxKeyIdBytes = 64;
const maxDocumentTypes = 64;

/** Known to have no bearing on whether a signer may sign travel documents, so that they may be critical. */
const harmlessExtensions: ReadonlySet<string> = new Set([
  "2.5.29.17", // subject alternative name
  "2.5.29.18", // issuer alternative name
  "2.5.29.31", // CRL distribution points
  "2.5.29.32", // certificate policies
  "2.23.136.1.1.6.1", // name change
]);

type Period = {
  readonly notBefore: Date | null;
  readonly notAfter: Date | null;
};

type KeyUsage = {
  readonly digitalSignature: boolean;
  readonly keyCertSign: boolean;
};

type Extensions = {
  subjectKeyId: Uint8Array | null;
  authorityKeyId: Uint8Array | null;
  basicConstraints: { readonly ca: boolean; readonly pathLength: number | null } | null;
  keyUsage: KeyUsage | null;
  privateKeyUsagePeriod: Period | null;
  extendedKeyUsage: readonly string[] | null;
  unknownCritical: readonly string[];
  documentTypes: readonly string[] | null;
  unreadable: readonly string[];
};

/**
 * The parts of an X.509 certificate that verification needs. Key and signature algorithm are read on demand.
 */
export class Certificate implements Readonly<Extensions> {
  /** The whole certificate as encoded. */
  readonly der: Uint8Array;
  /** The signed part. */
  readonly tbs: Uint8Array;
  readonly signature: Uint8Array;
  /** Hexadecimal, as encoded: some states use negative serial numbers. */
  readonly serial: string;
  readonly issuer: DistinguishedName;
  readonly encodedIssuer: Uint8Array;
  readonly subject: DistinguishedName;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly subjectPublicKeyInfo: Uint8Array;
  readonly subjectKeyId: Uint8Array | null;
  readonly authorityKeyId: Uint8Array | null;
  readonly basicConstraints: { readonly ca: boolean; readonly pathLength: number | null } | null;
  readonly keyUsage: KeyUsage | null;
  readonly privateKeyUsagePeriod: Period | null;
  readonly extendedKeyUsage: readonly string[] | null;
  /** Critical extensions that are not supported. */
  readonly unknownCritical: readonly string[];
  /** Document codes that a signer may sign, without fillers: P, ID. Null if the certificate does not say. */
  readonly documentTypes: readonly string[] | null;
  /** Extensions that cannot be read and that nothing is decided by. */
  readonly unreadable: readonly string[];
  readonly #signatureAlgorithm: Uint8Array;
  #publicKey: PublicKey | null = null;
  #signatureScheme: SignatureScheme | null = null;

  constructor(outer: Tlv) {
    outer.expect(tags.sequence, "A certificate");
    const tbs = outer.at(0, "The content of a certificate", tags.sequence);
    const signatureAlgorithm = outer.at(1, "The signature algorithm of a certificate", tags.sequence);
    this.der = outer.bytes;
    this.tbs = tbs.bytes;
    this.signature = outer
      .at(2, "The signature of a certificate")
      .wholeBytes("The signature of a certificate");
    this.#signatureAlgorithm = signatureAlgorithm.bytes;

    const fields = tbs.children();
    let next = fields[0]?.tag === contextConstructed(0) ? 1 : 0;
    const field = (what: string): Tlv => {
      const found = fields[next++];
      if (found === undefined)
        throw new EmrtdError("CERTIFICATE_INVALID", `${what} of a certificate is missing`);
      return found;
    };
    const serial = field("The serial number").expect(tags.integer, "The serial number of a certificate");
    if (serial.valueLength === 0 || serial.valueLength > 64) {
      throw new EmrtdError("CERTIFICATE_INVALID", "The serial number of a certificate is empty or too long");
    }
    this.serial = toHex(serial.value);
    if (!equal(field("The inner signature algorithm").bytes, signatureAlgorithm.bytes)) {
      throw new EmrtdError("CERTIFICATE_INVALID", "A certificate names two different signature algorithms");
    }
    const issuer = field("The issuer");
    this.issuer = readName(issuer);
    this.encodedIssuer = issuer.bytes;
    const validity = field("The validity").expect(tags.sequence, "The validity of a certificate");
    this.notBefore = validity.at(0, "The start of a certificate's validity").time();
    this.notAfter = validity.at(1, "The end of a certificate's validity").time();
    const subject = field("The subject");
    this.subject = equal(subject.bytes, issuer.bytes) ? this.issuer : readName(subject);
    this.subjectPublicKeyInfo = field("The public key").expect(
      tags.sequence,
      "The public key of a certificate",
    ).bytes;

    const wrapper = fields.slice(next).find((candidate) => candidate.tag === contextConstructed(3));
    const extensions = readExtensions(wrapper);
    this.subjectKeyId = extensions.subjectKeyId;
    this.authorityKeyId = extensions.authorityKeyId;
    this.basicConstraints = extensions.basicConstraints;
    this.keyUsage = extensions.keyUsage;
    this.privateKeyUsagePeriod = extensions.privateKeyUsagePeriod;
    this.extendedKeyUsage = extensions.extendedKeyUsage;
    this.unknownCritical = extensions.unknownCritical;
    this.documentTypes = extensions.documentTypes;
    this.unreadable = extensions.unreadable;
  }

  get publicKey(): PublicKey {
    this.#publicKey ??= readPublicKey(this.subjectPublicKeyInfo);
    return this.#publicKey;
  }

  get signatureScheme(): SignatureScheme {
    this.#signatureScheme ??= readSignatureScheme(readTlv(this.#signatureAlgorithm)).scheme;
    return this.#signatureScheme;
  }

  /** Issued in its own name; whether it also signed itself is for a signature check to say. */
  get isSelfIssued(): boolean {
    return this.issuer.key === this.subject.key;
  }

  isValidAt(time: Date): boolean {
    return time >= this.notBefore && time <= this.notAfter;
  }
}

export function readCertificate(bytes: Uint8Array): Certificate {
  return new Certificate(readWhole(bytes, limits));
}

function readExtensions(wrapper: Tlv | undefined): Extensions {
  const found: Extensions = {
    subjectKeyId: null,
    authorityKeyId: null,
    basicConstraints: null,
    keyUsage: null,
    privateKeyUsagePeriod: null,
    extendedKeyUsage: null,
    unknownCritical: [],
    documentTypes: null,
    unreadable: [],
  };
  if (wrapper === undefined) return found;
  const seen = new Set<string>();
  const unknownCritical: string[] = [];
  const unreadable: string[] = [];
  for (const extension of wrapper.at(0, "The extensions of a certificate", tags.sequence).children()) {
    const { oid, critical, value } = readExtension(extension);
    if (seen.has(oid)) throw new EmrtdError("CERTIFICATE_INVALID", `The extension ${oid} occurs twice`);
    seen.add(oid);
    const content = (): Tlv => readWhole(value, limits);
    /** For hints only: an unreadable one counts as absent, unless it is marked critical. */
    const hint = <T>(read: () => T): T | null => {
      try {
        return read();
      } catch (error) {
        if (!isEmrtdError(error)) throw error;
        (critical ? unknownCritical : unreadable).push(oid);
        return null;
      }
    };
    switch (oid) {
      case extensionOids.subjectKeyId:
        found.subjectKeyId = hint(() => content().octetString()) ?? rawKeyId(value);
        break;
      case extensionOids.authorityKeyId:
        found.authorityKeyId = hint(() => readAuthorityKeyId(content()));
        break;
      case extensionOids.basicConstraints:
        found.basicConstraints = readBasicConstraints(content());
        break;
      case extensionOids.keyUsage:
        found.keyUsage = readKeyUsage(content());
        break;
      case extensionOids.privateKeyUsagePeriod:
        found.privateKeyUsagePeriod = hint(() => readPrivateKeyUsagePeriod(content()));
        break;
      case extensionOids.documentTypeList:
        found.documentTypes = hint(() => readDocumentTypes(content()));
        break;
      case extensionOids.extendedKeyUsage:
        found.extendedKeyUsage = content()
          .children()
          .map((usage) => usage.oid());
        break;
      default:
        if (critical && !harmlessExtensions.has(oid)) unknownCritical.push(oid);
    }
  }
  found.unknownCritical = unknownCritical;
  found.unreadable = unreadable;
  return found;
}

export function readAuthorityKeyId(content: Tlv): Uint8Array | null {
  return (
    content.expect(tags.sequence, "An authority key identifier").find(contextPrimitive(0))?.value ?? null
  );
}

/** Some authorities omit the OCTET STRING around the key id's bytes. */
function rawKeyId(value: Uint8Array): Uint8Array | null {
  return value.length > 0 && value.length <= maxKeyIdBytes ? value : null;
}

/**
 * DocumentTypeList of Doc 9303 part 12: a version and a set of codes as in the zone. Indonesia and the
 * Philippines write only the codes, as a sequence of texts.
 */
function readDocumentTypes(content: Tlv): readonly string[] {
  const parts = content.expect(tags.sequence, "A document type list").children();
  const isBare = parts.length > 0 && parts.every(({ tag }) => tag === tags.printableString);
  if (!isBare) content.at(0, "Its version", tags.integer);
  const types = isBare ? parts : content.at(1, "The document types", tags.set).children();
  if (types.length > maxDocumentTypes)
    throw new EmrtdError("CERTIFICATE_INVALID", "A document type list is too long");
  return types.map((type) => type.text().replaceAll("<", "").trim().slice(0, 8));
}

function readBasicConstraints(content: Tlv): { readonly ca: boolean; readonly pathLength: number | null } {
  const [ca, pathLength] = content.expect(tags.sequence, "Basic constraints").children();
  if (ca?.tag !== tags.boolean) return { ca: false, pathLength: null };
  return {
    ca: ca.boolean(),
    pathLength: pathLength?.tag === tags.integer ? pathLength.smallInteger() : null,
  };
}

function readKeyUsage(content: Tlv): KeyUsage {
  const first = content.bitString().bytes[0] ?? 0;
  return {
    digitalSignature: (first & 0x80) !== 0,
    keyCertSign: (first & 0x04) !== 0,
  };
}

/** The times are GeneralizedTime under implicit tags, so the universal tag is put back before reading. */
function readPrivateKeyUsagePeriod(content: Tlv): Period {
  const time = (number: number): Date | null => {
    const field = content.find(contextPrimitive(number));
    if (field === null) return null;
    const retagged = field.bytes.slice();
    retagged[0] = tags.generalizedTime;
    return readWhole(retagged).time();
  };
  content.expect(tags.sequence, "A private key usage period");
  return { notBefore: time(0), notAfter: time(1) };
}

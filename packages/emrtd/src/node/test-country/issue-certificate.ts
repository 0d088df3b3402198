import { createHash } from "node:crypto";
import { readTlv } from "../../ber/read.ts";
import {
  bitString,
  boolean,
  certificateTime,
  contextTag,
  contextValue,
  generalizedTime,
  integer,
  octetString,
  oid,
  printableString,
  sequence,
  setOf,
  unsignedInteger,
  utf8String,
} from "../../ber/write.ts";
import type { SignatureScheme } from "../../crypto/signature-scheme.ts";
import { type SigningKey, signatureAlgorithm } from "./signing-key.ts";

export type TestName = {
  /** Null leaves it out of the name, as one state did for years. */
  readonly country: string | null;
  readonly organization: string;
  readonly commonName: string;
};

export type Validity = {
  readonly notBefore: Date;
  readonly notAfter: Date;
};

/** An issuer: a name, a key, and its signature method. */
export type Issuer = {
  readonly name: TestName;
  readonly key: SigningKey;
  readonly scheme: SignatureScheme;
};

export type CertificateRequest = {
  readonly issuer: Issuer;
  readonly subject: TestName;
  readonly subjectKey: SigningKey;
  readonly serial: Uint8Array;
  readonly validity: Validity;
  readonly use: "authority" | "document_signer" | "master_list_signer";
  readonly privateKeyUsagePeriod?: Validity;
  /** Beside those that every certificate of its use has. */
  readonly extensions?: readonly TestExtension[];
  readonly withoutSubjectKeyId?: boolean;
  /** Object identifiers of extensions that this certificate lacks, although those of its use have them. */
  readonly without?: readonly string[];
};

export function encodeName({ country, organization, commonName }: TestName): Uint8Array {
  const part = (type: string, value: Uint8Array) => setOf(sequence(oid(type), value));
  return sequence(
    ...(country === null ? [] : [part("2.5.4.6", printableString(country))]),
    part("2.5.4.10", utf8String(organization)),
    part("2.5.4.3", utf8String(commonName)),
  );
}

/** Method 1 of RFC 5280: SHA-1 of the key's bits. */
function keyIdOf(key: SigningKey): Uint8Array {
  const bits = readTlv(key.subjectPublicKeyInfo).at(1, "The key").bitString().bytes;
  return new Uint8Array(createHash("sha1").update(bits).digest());
}

function extension(type: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value));
}

function generalizedTimeValue(at: Date): Uint8Array {
  return readTlv(generalizedTime(at)).value;
}

export function issueCertificate(request: CertificateRequest): Uint8Array {
  const { issuer, subject, subjectKey, serial, validity, use, privateKeyUsagePeriod } = request;
  const isAuthority = use === "authority";
  const extensions: Uint8Array[] = [];
  const add = (type: string, critical: boolean, value: Uint8Array) => {
    if (!request.without?.includes(type)) extensions.push(extension(type, critical, value));
  };
  if (request.withoutSubjectKeyId !== true) add("2.5.29.14", false, octetString(keyIdOf(subjectKey)));
  add("2.5.29.35", false, sequence(contextValue(0, keyIdOf(issuer.key))));
  // keyCertSign and cRLSign, or digitalSignature.
  add("2.5.29.15", true, isAuthority ? bitString(Uint8Array.of(0x06), 1) : bitString(Uint8Array.of(0x80), 7));
  if (isAuthority) add("2.5.29.19", true, sequence(boolean(true), integer(0)));
  if (use === "master_list_signer") add("2.5.29.37", true, sequence(oid("2.23.136.1.1.3")));
  if (privateKeyUsagePeriod !== undefined) {
    const period = sequence(
      contextValue(0, generalizedTimeValue(privateKeyUsagePeriod.notBefore)),
      contextValue(1, generalizedTimeValue(privateKeyUsagePeriod.notAfter)),
    );
    extensions.push(extension("2.5.29.16", false, period));
  }
  for (const { type, critical, value } of request.extensions ?? [])
    extensions.push(extension(type, critical, value));
  const algorithm = signatureAlgorithm(issuer.scheme);
  const tbs = sequence(
    contextTag(0, integer(2)),
    unsignedInteger(serial),
    algorithm,
    encodeName(issuer.name),
    sequence(certificateTime(validity.notBefore), certificateTime(validity.notAfter)),
    encodeName(subject),
    subjectKey.subjectPublicKeyInfo,
    contextTag(3, sequence(...extensions)),
  );
  return sequence(tbs, algorithm, bitString(issuer.key.sign(issuer.scheme, tbs)));
}

export type RevocationRequest = {
  readonly issuer: Issuer;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
  readonly number: number;
  readonly revoked: readonly RevokedSerial[];
  /** Beside the two that every list has: what makes a list partial, indirect or not understood. */
  readonly extensions?: readonly TestExtension[];
};

type RevokedSerial = {
  readonly serial: Uint8Array;
  readonly at: Date;
  readonly extensions?: readonly TestExtension[];
};

export type TestExtension = {
  readonly type: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
};

export function issueRevocationList({
  issuer,
  thisUpdate,
  nextUpdate,
  number,
  revoked,
  extensions = [],
}: RevocationRequest): Uint8Array {
  const algorithm = signatureAlgorithm(issuer.scheme);
  const encode = ({ type, critical, value }: TestExtension) => extension(type, critical, value);
  const entries = revoked.map((entry) =>
    sequence(
      unsignedInteger(entry.serial),
      certificateTime(entry.at),
      ...(entry.extensions === undefined ? [] : [sequence(...entry.extensions.map(encode))]),
    ),
  );
  const tbs = sequence(
    integer(1),
    algorithm,
    encodeName(issuer.name),
    certificateTime(thisUpdate),
    certificateTime(nextUpdate),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    contextTag(
      0,
      sequence(
        extension("2.5.29.35", false, sequence(contextValue(0, keyIdOf(issuer.key)))),
        extension("2.5.29.20", false, integer(number)),
        ...extensions.map(encode),
      ),
    ),
  );
  return sequence(tbs, algorithm, bitString(issuer.key.sign(issuer.scheme, tbs)));
}

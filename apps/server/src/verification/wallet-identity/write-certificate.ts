import "reflect-metadata";
import { createPublicKey, type KeyObject } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonNameParams,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

export type Subject = {
  commonName: string;
  organization: string | null;
  /** ISO 3166-1 alpha-2. */
  country: string | null;
  /** In the register's form, such as `VATDE-123456789`; the subject of a registration certificate. */
  identifier: string | null;
};

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" };
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
const mdocReaderAuthentication = "1.0.18013.5.1.6";

/** A request for the certificate of a key (PKCS #10). */
export async function writeCertificateRequest(
  subject: Subject,
  host: string | null,
  key: KeyObject,
): Promise<Uint8Array> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: nameOf(subject),
    keys: pairOf(key),
    signingAlgorithm,
    extensions: leafExtensions(host),
  });
  return new Uint8Array(request.rawData);
}

/** A certificate for `key`. Wallets of the sandbox do not need the issuer's certificate. */
export async function writeSandboxLeaf(
  host: string | null,
  key: KeyObject,
  authority: KeyObject,
  validity: { from: Date; until: Date },
): Promise<Uint8Array> {
  const by = (commonName: string) =>
    nameOf({ commonName, organization: "Assay sandbox", country: null, identifier: null });
  const { publicKey } = pairOf(key);
  const signer = pairOf(authority);
  const leaf = await X509CertificateGenerator.create({
    issuer: by("Assay sandbox authority"),
    subject: by("Assay sandbox"),
    notBefore: validity.from,
    notAfter: validity.until,
    publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm,
    extensions: [
      ...leafExtensions(host),
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(signer.publicKey),
    ],
  });
  return new Uint8Array(leaf.rawData);
}

function leafExtensions(host: string | null): Extension[] {
  const isName = host !== null && /[a-z]/i.test(host) && !host.includes(":");
  return [
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([mdocReaderAuthentication]),
    ...(isName ? [new SubjectAlternativeNameExtension([{ type: "dns", value: host }])] : []),
  ];
}

function nameOf({ commonName, organization, country, identifier }: Subject): Name {
  const parts: JsonNameParams = [{ CN: [{ utf8String: commonName }] }];
  if (identifier !== null) parts.unshift({ "2.5.4.97": [{ utf8String: identifier }] });
  if (organization !== null) parts.unshift({ O: [{ utf8String: organization }] });
  if (country !== null) parts.unshift({ C: [{ printableString: country }] });
  return new Name(parts);
}

function pairOf(key: KeyObject) {
  return {
    privateKey: key.toCryptoKey(keyAlgorithm, false, ["sign"]),
    publicKey: createPublicKey(key).toCryptoKey(keyAlgorithm, true, ["verify"]),
  };
}

import type { CryptoKey } from "jose";
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
} from "@peculiar/x509";
import { ownBytes } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import { type EcAlgorithm, ecAlgorithms, findEcAlgorithm } from "../ec-algorithm.ts";

/** The parts of a certificate that path checks need. */
export type Certificate = {
  der: Uint8Array;
  subject: string;
  issuer: string;
  /** `C` of the subject. */
  country: string | null;
  notBefore: Date;
  notAfter: Date;
  dnsNames: readonly string[];
  uris: readonly string[];
  /** Hexadecimal. */
  keyId: string | null;
  issuerKeyId: string | null;
  /** Bytes that the issuer's certificate holds: its name, or the identifier of its key. */
  issuerHints: readonly Uint8Array[];
  isAuthority: boolean;
  maxAuthoritiesBelow: number | null;
  /** Null where the certificate does not restrict its key. */
  keyUsage: { signs: boolean; certifies: boolean } | null;
  extendedKeyUsage: readonly string[] | null;
  hasUnknownCritical: boolean;
  /** Null for an RSA key, which may vouch for certificates and signs nothing else. */
  algorithm: EcAlgorithm | null;
  spki: Uint8Array<ArrayBuffer>;
  isSignedBy(authority: Certificate): Promise<boolean>;
};

const maxCertificateBytes = 16 * 1024;

/** Extensions that are checked here or cannot invalidate a path. Name and policy constraints are neither. */
const knownExtensions = new Set([
  "2.5.29.14", // subject key identifier
  "2.5.29.15", // key usage
  "2.5.29.16", // private key usage period
  "2.5.29.17", // subject alternative name
  "2.5.29.18", // issuer alternative name
  "2.5.29.19", // basic constraints
  "2.5.29.31", // distribution points
  "2.5.29.32", // policies
  "2.5.29.35", // authority key identifier
  "2.5.29.37", // extended key usage
]);
const digitalSignature = 1;
const keyCertSign = 32;

/** Authorities of the EU's trust services have RSA keys too (ETSI TS 119 312). */
const rsaSignatures = new Set(["RSASSA-PKCS1-v1_5", "RSA-PSS"]);
const minRsaBits = 2048;

const parsed = new WeakMap<Uint8Array, Certificate>();

/** Reads a certificate with a key on P-256, P-384 or P-521, or an RSA key. */
export function parseCertificate(der: Uint8Array): Certificate {
  const known = parsed.get(der);
  if (known !== undefined) return known;
  if (der.length > maxCertificateBytes) throw new CredentialError("too_large", "X.509: too many bytes");
  let certificate: Certificate;
  try {
    certificate = read(der);
  } catch (error) {
    if (error instanceof CredentialError) throw error;
    throw new CredentialError("malformed", "X.509: not a certificate");
  }
  parsed.set(der, certificate);
  return certificate;
}

function read(der: Uint8Array): Certificate {
  const x509 = new X509Certificate(ownBytes(der));
  if (derLength(der) !== der.length)
    throw new CredentialError("malformed", "X.509: bytes after the certificate");
  const ids = x509.extensions.map((extension) => extension.type);
  if (new Set(ids).size !== ids.length) throw new CredentialError("malformed", "X.509: duplicate extension");
  const algorithm = algorithmOf(x509);
  const constraints = x509.getExtension(BasicConstraintsExtension);
  const usages = x509.getExtension(KeyUsagesExtension)?.usages;
  const names = x509.getExtension(SubjectAlternativeNameExtension)?.names.items ?? [];
  const issuerKeyId = x509.getExtension(AuthorityKeyIdentifierExtension)?.keyId?.toLowerCase() ?? null;
  return {
    der,
    subject: x509.subject,
    issuer: x509.issuer,
    country: x509.subjectName.getField("C")[0] ?? null,
    notBefore: x509.notBefore,
    notAfter: x509.notAfter,
    dnsNames: names.filter((name) => name.type === "dns").map((name) => name.value),
    uris: names.filter((name) => name.type === "url").map((name) => name.value),
    keyId: x509.getExtension(SubjectKeyIdentifierExtension)?.keyId.toLowerCase() ?? null,
    issuerKeyId,
    issuerHints: [
      new Uint8Array(x509.issuerName.toArrayBuffer()),
      ...(issuerKeyId === null
        ? []
        : [Uint8Array.from(issuerKeyId.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))]),
    ],
    isAuthority: constraints?.ca ?? false,
    maxAuthoritiesBelow: constraints?.pathLength ?? null,
    keyUsage:
      usages === undefined
        ? null
        : { signs: (usages & digitalSignature) !== 0, certifies: (usages & keyCertSign) !== 0 },
    extendedKeyUsage: x509.getExtension(ExtendedKeyUsageExtension)?.usages.map(String) ?? null,
    hasUnknownCritical: x509.extensions.some(
      (extension) => extension.critical && !knownExtensions.has(extension.type),
    ),
    algorithm,
    spki: new Uint8Array(x509.publicKey.rawData),
    isSignedBy: (authority) => isSignedBy(x509, authority),
  };
}

/** Length of a sequence below 64 KiB, with its header. The library ignores what follows. */
function derLength(der: Uint8Array): number {
  const [, length = 0, high = 0, low = 0] = der;
  if (length < 0x80) return 2 + length;
  return length === 0x81 ? 3 + high : 4 + high * 256 + low;
}

function algorithmOf(x509: X509Certificate): EcAlgorithm | null {
  const key: { name: string; namedCurve?: string; modulusLength?: number } = x509.publicKey.algorithm;
  const elliptic = findEcAlgorithm(({ curve }) => curve === key.namedCurve);
  if (key.name === "ECDSA" && elliptic !== null) return elliptic;
  if (rsaSignatures.has(key.name) && (key.modulusLength ?? 0) >= minRsaBits) return null;
  throw new CredentialError("not_supported", "X.509: key of another kind");
}

async function isSignedBy(x509: X509Certificate, authority: Certificate): Promise<boolean> {
  const { name = "", hash }: { name?: string; hash?: { name: string } } = x509.signatureAlgorithm;
  if (hash === undefined || !/^SHA-(?:256|384|512)$/.test(hash.name)) return false;
  const isOfKey = authority.algorithm === null ? rsaSignatures.has(name) : name === "ECDSA";
  if (!isOfKey) return false;
  try {
    const key = authority.algorithm === null ? { name, hash } : ecKeyOf(authority.algorithm);
    return await x509.verify({ publicKey: await importKey(authority, key), signatureOnly: true });
  } catch {
    return false;
  }
}

/** The key that checks what the owner of a certificate has signed. */
export async function signingKeyOf(
  certificate: Certificate,
): Promise<{ publicKey: CryptoKey; algorithm: EcAlgorithm }> {
  const { algorithm } = certificate;
  if (algorithm === null) throw new CredentialError("not_supported", "X.509: RSA key of a signer");
  return { publicKey: await importKey(certificate, ecKeyOf(algorithm)), algorithm };
}

function ecKeyOf(algorithm: EcAlgorithm) {
  return { name: "ECDSA", namedCurve: ecAlgorithms[algorithm].curve };
}

function importKey({ spki }: Certificate, algorithm: { name: string }): Promise<CryptoKey> {
  return crypto.subtle.importKey("spki", spki, algorithm, true, ["verify"]);
}

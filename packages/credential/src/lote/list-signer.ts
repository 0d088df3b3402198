import "reflect-metadata";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from "@peculiar/x509";
import { digest, isEqual, ownBytes } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import type { ListSigner } from "../trusted-list.ts";

const maxChain = 4;

/**
 * The certificate that signed a list, if one of `signers` is that certificate or an authority above it; else
 * null. Publishers of lists may sign with RSA keys; issuers of credentials may not.
 */
export async function trustedListSigner(
  chain: readonly Uint8Array[],
  signers: readonly ListSigner[],
  now: Date,
): Promise<X509Certificate | null> {
  if (chain.length > maxChain) return null;
  const path = chain.map(parseAnyCertificate);
  const [leaf] = path;
  if (leaf === undefined) return null;
  const pinned = new Set(signers.map(fingerprintOf).filter((pin) => pin !== null));
  const roots = signers.filter((signer) => typeof signer !== "string");
  for (const [index, certificate] of path.entries()) {
    const below = path[index - 1];
    if (below !== undefined && !(await vouches(certificate, below))) return null;
    if (!isValidAt(certificate, now)) return null;
    const der = new Uint8Array(certificate.rawData);
    if (pinned.has(toHex(await digest("SHA-256", der))) || roots.some((root) => isEqual(root, der)))
      return leaf;
  }
  const last = path.at(-1);
  for (const root of roots.map(parseAnyCertificate)) {
    if (last !== undefined && isValidAt(root, now) && (await vouches(root, last))) return leaf;
  }
  return null;
}

/** With a key of any kind. */
export function parseAnyCertificate(der: Uint8Array): X509Certificate {
  try {
    const certificate = new X509Certificate(ownBytes(der));
    // The library parses these lazily and could throw then.
    void [certificate.extensions, certificate.publicKey, certificate.notAfter];
    return certificate;
  } catch {
    throw new CredentialError("malformed", "List: not a certificate");
  }
}

function fingerprintOf(signer: ListSigner): string | null {
  return typeof signer === "string" ? signer.replaceAll(":", "").toLowerCase() : null;
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isValidAt({ notBefore, notAfter }: X509Certificate, now: Date): boolean {
  return notBefore <= now && now <= notAfter;
}

async function vouches(authority: X509Certificate, certificate: X509Certificate): Promise<boolean> {
  const usages = authority.getExtension(KeyUsagesExtension)?.usages ?? KeyUsageFlags.keyCertSign;
  const isAuthority = authority.getExtension(BasicConstraintsExtension)?.ca ?? false;
  if (!isAuthority || (usages & KeyUsageFlags.keyCertSign) === 0) return false;
  if (authority.subject !== certificate.issuer) return false;
  try {
    return await certificate.verify({ publicKey: authority.publicKey, signatureOnly: true });
  } catch {
    return false;
  }
}

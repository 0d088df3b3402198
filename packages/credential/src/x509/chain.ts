import type { CryptoKey } from "jose";
import { isEqual } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import type { EcAlgorithm } from "../ec-algorithm.ts";
import type { Purpose, TrustAnchor } from "../trust-anchor.ts";
import { type Certificate, parseCertificate, signingKeyOf } from "./certificate.ts";

export type ParsedLeaf = Pick<
  Certificate,
  "der" | "subject" | "country" | "notBefore" | "notAfter" | "dnsNames" | "uris"
>;

export type ChainVerdict =
  | { kind: "trusted"; anchor: TrustAnchor; publicKey: CryptoKey; algorithm: EcAlgorithm; leaf: ParsedLeaf }
  | { kind: "untrusted"; reason: "issuer_unknown" | "issuer_not_valid" };

export type ChainOptions = {
  purpose: Purpose;
  now: Date;
  leaf: "mdl_signer" | "credential_signer" | "status_signer" | "any";
};

/**
 * Signer, one intermediate authority and one more, as in ISO/IEC 18013-5 and the profiles of the EU's lists.
 */
const maxChain = 3;
/** Extended key usage of a signer of mobile driving licences (ISO/IEC 18013-5, B.1.4). */
const mdlSignerUsage = "1.0.18013.5.1.2";

/**
 * Whether an anchor of this purpose vouches for the first certificate of `chain`. The chain begins with the
 * signer; it need not include the anchor. An anchor may also be the signer's certificate. Authorities of
 * driving licences have elliptic keys (ISO/IEC 18013-5, B.1); others may have RSA keys.
 */
export async function checkChain(
  chain: readonly Uint8Array[],
  anchors: readonly TrustAnchor[],
  options: ChainOptions,
): Promise<ChainVerdict> {
  if (chain.length === 0 || chain.length > maxChain) return untrusted("issuer_not_valid");
  const ofPurpose = anchors.filter((anchor) => anchor.purpose === options.purpose);
  let path: Certificate[];
  try {
    path = chain.map(parseCertificate);
  } catch (error) {
    if (error instanceof CredentialError) return untrusted("issuer_not_valid");
    throw error;
  }
  const leaf = path[0];
  if (leaf === undefined || leaf.algorithm === null) return untrusted("issuer_not_valid");
  const found = await findAnchor(path, ofPurpose, options.now);
  if (found === null) return untrusted("issuer_unknown");
  const whole = found.whole;
  const isValid =
    whole.every((certificate) => isValidAt(certificate, options.now) && !certificate.hasUnknownCritical) &&
    whole.slice(1).every((authority, below) => mayCertify(authority, below)) &&
    maySign(leaf, options.leaf, whole.length === 1) &&
    (options.purpose !== "mdl" || whole.every(({ algorithm }) => algorithm !== null));
  if (!isValid) return untrusted("issuer_not_valid");
  return { kind: "trusted", anchor: found.anchor, ...(await signingKeyOf(leaf)), leaf };
}

function untrusted(reason: "issuer_unknown" | "issuer_not_valid"): ChainVerdict {
  return { kind: "untrusted", reason };
}

type Found = { anchor: TrustAnchor; whole: readonly Certificate[] };

/** The path from the signer to an anchor, both included. */
async function findAnchor(
  path: readonly Certificate[],
  anchors: readonly TrustAnchor[],
  now: Date,
): Promise<Found | null> {
  for (const [index, certificate] of path.entries()) {
    const below = path[index - 1];
    if (below !== undefined && !(await vouches(certificate, below))) return null;
    const same = preferred(anchors.filter((anchor) => isEqual(anchor.certificate, certificate.der)));
    if (same !== null) return { anchor: same, whole: path.slice(0, index + 1) };
  }
  const last = path.at(-1);
  if (last === undefined) return null;
  const found: { anchor: TrustAnchor; authority: Certificate }[] = [];
  for (const anchor of anchors) {
    if (!mayBeIssuer(anchor.certificate, last)) continue;
    const authority = parseAnchor(anchor);
    if (authority !== null && (await vouches(authority, last))) found.push({ anchor, authority });
  }
  // An authority renews its certificate under the same name and key: the one that is still valid counts.
  const valid = found.filter(({ authority }) => isValidAt(authority, now));
  const candidates = valid.length > 0 ? valid : found;
  const anchor = preferred(candidates.map((candidate) => candidate.anchor));
  const authority = candidates.find((candidate) => candidate.anchor === anchor)?.authority;
  return anchor === null || authority === undefined ? null : { anchor, whole: [...path, authority] };
}

/** A list that is up to date says more than a stale one, and the EU's list more than the operator's own. */
function preferred(anchors: readonly TrustAnchor[]): TrustAnchor | null {
  return (
    anchors.find((anchor) => !anchor.stale && anchor.list === "eu_list") ??
    anchors.find((anchor) => !anchor.stale) ??
    anchors[0] ??
    null
  );
}

/** A list may name hundreds of authorities; parsing one costs more than looking for its name. */
function mayBeIssuer(anchor: Uint8Array, certificate: Certificate): boolean {
  return certificate.issuerHints.some((hint) => contains(anchor, hint));
}

function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  const first = part[0];
  if (first === undefined) return false;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (isEqual(bytes.subarray(at, at + part.length), part)) return true;
  }
  return false;
}

async function vouches(authority: Certificate, certificate: Certificate): Promise<boolean> {
  if (authority.subject !== certificate.issuer) return false;
  const [keyId, issuerKeyId] = [authority.keyId, certificate.issuerKeyId];
  if (keyId !== null && issuerKeyId !== null && keyId !== issuerKeyId) return false;
  return certificate.isSignedBy(authority);
}

/** An anchor with a key of another kind can vouch for none of our signers. */
function parseAnchor(anchor: TrustAnchor): Certificate | null {
  try {
    return parseCertificate(anchor.certificate);
  } catch (error) {
    if (error instanceof CredentialError) return null;
    throw error;
  }
}

function isValidAt(certificate: Certificate, now: Date): boolean {
  return certificate.notBefore <= now && now <= certificate.notAfter;
}

function mayCertify(authority: Certificate, authoritiesBelow: number): boolean {
  return (
    authority.isAuthority &&
    (authority.keyUsage?.certifies ?? true) &&
    (authority.maxAuthoritiesBelow === null || authoritiesBelow <= authority.maxAuthoritiesBelow)
  );
}

/**
 * A list that names the signer itself has decided what it is;
 * otherwise the key of an authority signs certificates alone.
 */
function maySign(leaf: Certificate, as: ChainOptions["leaf"], isListed: boolean): boolean {
  if (as === "any") return true;
  if ((leaf.isAuthority && !isListed) || !(leaf.keyUsage?.signs ?? true)) return false;
  if (as !== "mdl_signer") return true;
  // Without the extension a key is not restricted (RFC 5280, 4.2.1.12), although ISO/IEC 18013-5 requires it.
  return leaf.extendedKeyUsage?.includes(mdlSignerUsage) ?? true;
}

import { equal, toHex } from "../bytes.ts";
import {
  checkSignature,
  type SignatureToCheck,
  type SignatureTolerance,
  type SignatureVerdict,
  type SignatureWarning,
} from "../crypto/check-signature.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";
import { type CertificateRevocationList, readCrl } from "../x509/crl.ts";
import type { TrustRecord, TrustSource } from "./trust-record.ts";

/**
 * Why a certificate may vouch for document signers: a signed list or the operator names it, or a trusted authority handed over to
 * it with a link certificate. `none` is a link certificate whose predecessor is not (yet) trusted; it vouches for nothing.
 */
export type TrustBasis = "named" | "linked" | "none";

export interface Authority {
  readonly certificate: Certificate;
  /** SHA-256 of the certificate, in hexadecimal. */
  readonly fingerprint: string;
  readonly basis: TrustBasis;
  /** The fingerprint of the authority that handed over, when `linked`. */
  readonly linkedFrom: string | null;
  readonly sources: readonly TrustSource[];
}

export interface KnownRevocationList {
  readonly list: CertificateRevocationList;
  /** The authority whose key signed it; null when none of the store did, and the list then counts for nothing. */
  readonly issuer: Authority | null;
  readonly source: TrustSource;
}

export interface IssuerCandidates {
  readonly authorities: readonly Authority[];
  readonly foundBy: "name_and_key_id" | "name" | "key_id";
}

const MAX_SIGNERS_KEPT = 256;

/** The end of a signature tells certificates apart well enough to find one; the whole is compared afterwards. */
function memoKey(der: Uint8Array): string {
  return String.fromCharCode(...der.subarray(-16));
}

/** More keys than this are never tried for one certificate, whatever a store holds under one name. */
const MAX_KEYS_TRIED = 8;

/** Deviations that real authorities show in certificates and lists they sign. */
const STORE_TOLERANCE: SignatureTolerance = {
  digestInfoWithoutNull: true,
  rawEcdsa: false,
  wrongCurveOfSameSize: false,
};

interface Entry {
  readonly certificate: Certificate;
  readonly fingerprint: string;
  readonly sources: TrustSource[];
  named: boolean;
  linkedFrom: string | null;
}

/**
 * The authorities and revocation lists of all records together. What it says never changes; it only keeps certificates of signers
 * that it has led to an authority before, because a state signs a hundred thousand documents with each.
 */
export class TrustStore {
  readonly authorities: readonly Authority[];
  readonly revocationLists: readonly KnownRevocationList[];
  readonly #byName = new Map<string, Authority[]>();
  readonly #byKeyId = new Map<string, Authority[]>();
  readonly #byFingerprint = new Map<string, Authority>();
  readonly #listOf = new Map<Authority, CertificateRevocationList>();
  readonly #signers = new Map<string, Certificate>();
  readonly #certifiedBy = new WeakMap<
    Certificate,
    { readonly tolerance: SignatureTolerance; readonly found: FoundSigner<Authority> }
  >();

  constructor(records: readonly TrustRecord[], checker: SignatureChecker) {
    this.authorities = collectAuthorities(records, checker);
    for (const authority of this.authorities) {
      this.#byFingerprint.set(authority.fingerprint, authority);
      if (authority.basis === "none") continue;
      addTo(this.#byName, authority.certificate.subject.key, authority);
      const keyId = authority.certificate.subjectKeyId;
      if (keyId !== null) addTo(this.#byKeyId, toHex(keyId), authority);
    }
    this.revocationLists = this.#collectLists(records, checker);
    this.#assignLists();
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  authorityWithFingerprint(sha256: string): Authority | undefined {
    return this.#byFingerprint.get(sha256.toLowerCase());
  }

  /** The trusted authorities that can have issued this, found by index and at most a handful. */
  issuersOf(issued: Pick<Certificate, "issuer" | "authorityKeyId">): IssuerCandidates {
    const named = this.#byName.get(issued.issuer.key) ?? [];
    const keyId = issued.authorityKeyId;
    if (keyId !== null) {
      const both = named.filter(
        ({ certificate }) => certificate.subjectKeyId !== null && equal(certificate.subjectKeyId, keyId),
      );
      if (both.length > 0) return { authorities: both, foundBy: "name_and_key_id" };
    }
    if (named.length > 0) return { authorities: named, foundBy: "name" };
    return { authorities: keyId === null ? [] : (this.#byKeyId.get(toHex(keyId)) ?? []), foundBy: "key_id" };
  }

  /**
   * The ones among these authorities of the store whose key certified the signer. The same certificate is asked about for a hundred thousand
   * documents, and what was found once under the same tolerance holds for all of them.
   */
  findCertifier(
    signer: Certificate,
    authorities: readonly Authority[],
    checker: SignatureChecker,
    tolerance: SignatureTolerance,
  ): FoundSigner<Authority> | null {
    const before = this.#certifiedBy.get(signer);
    if (before !== undefined && before.tolerance === tolerance) return before.found;
    const { signatureScheme: scheme, tbs: message, signature } = signer;
    const found = findSigner({ scheme, message, signature }, authorities, checker, tolerance);
    if (found !== null) this.#certifiedBy.set(signer, { tolerance, found });
    return found;
  }

  /** A signer's certificate, read and with its key imported when the same one was met before. */
  readSigner(der: Uint8Array): Certificate {
    const known = this.#signers.get(memoKey(der));
    return known !== undefined && equal(known.der, der) ? known : readCertificate(der);
  }

  /** To be told of signers that a trusted authority certified, and of no others: strangers must not push them out. */
  rememberSigner(signer: Certificate): void {
    const key = memoKey(signer.der);
    if (this.#signers.get(key) === signer) return;
    const [oldest] = this.#signers.keys();
    if (this.#signers.size >= MAX_SIGNERS_KEPT && oldest !== undefined) this.#signers.delete(oldest);
    // A copy, or the certificate would keep the whole file that it came in.
    this.#signers.set(key, readCertificate(signer.der.slice()));
  }

  /** The newest list signed by the key of this authority. */
  revocationListOf(authority: Authority): CertificateRevocationList | null {
    return this.#listOf.get(authority) ?? null;
  }

  /** The newest list of a key counts for every certificate with that key: a self-signed one and a link share it. */
  #assignLists(): void {
    const listByKey = new Map<string, CertificateRevocationList>();
    for (const { list, issuer } of this.revocationLists) {
      if (issuer === null) continue;
      const key = keyOf(issuer.certificate);
      const newest = listByKey.get(key);
      if (newest === undefined || newest.thisUpdate < list.thisUpdate) listByKey.set(key, list);
    }
    if (listByKey.size === 0) return;
    for (const authority of this.authorities) {
      const list = listByKey.get(keyOf(authority.certificate));
      if (list !== undefined) this.#listOf.set(authority, list);
    }
  }

  #collectLists(records: readonly TrustRecord[], checker: SignatureChecker): readonly KnownRevocationList[] {
    const known: KnownRevocationList[] = [];
    for (const record of records) {
      for (const bytes of record.revocationLists) {
        const list = readCrl(bytes);
        const { authorities } = this.issuersOf(list);
        const { signatureScheme: scheme, tbs: message, signature } = list;
        const found = findSigner({ scheme, message, signature }, authorities, checker);
        known.push({ list, issuer: found?.candidates[0] ?? null, source: record.source });
      }
    }
    return known;
  }
}

function addTo<T>(index: Map<string, T[]>, key: string, item: T): void {
  const items = index.get(key);
  if (items === undefined) index.set(key, [item]);
  else items.push(item);
}

function keyOf(certificate: Certificate): string {
  return toHex(certificate.subjectPublicKeyInfo);
}

function collectAuthorities(
  records: readonly TrustRecord[],
  checker: SignatureChecker,
): readonly Authority[] {
  const entries = new Map<string, Entry>();
  for (const { source, certificates } of records) {
    for (const bytes of certificates) {
      const fingerprint = toHex(checker.hash("SHA-256", bytes));
      const known = entries.get(fingerprint);
      if (known === undefined) {
        const certificate = readCertificate(bytes);
        // A certificate that says it signed itself was checked when it was imported; another one needs a list or a parent.
        const named = source.signedBy !== null || isOwnIssuer(certificate);
        entries.set(fingerprint, { certificate, fingerprint, sources: [source], named, linkedFrom: null });
      } else {
        known.sources.push(source);
        known.named ||= source.signedBy !== null;
      }
    }
  }
  linkEntries([...entries.values()], checker);
  return [...entries.values()].map(({ certificate, fingerprint, sources, named, linkedFrom }) => ({
    certificate,
    fingerprint,
    basis: named ? "named" : linkedFrom === null ? "none" : "linked",
    linkedFrom: named ? null : linkedFrom,
    sources,
  }));
}

/** Same name for subject and issuer, and no key id that points elsewhere: what a root looks like. */
export function isOwnIssuer({ isSelfIssued, authorityKeyId, subjectKeyId }: Certificate): boolean {
  if (!isSelfIssued) return false;
  return authorityKeyId === null || subjectKeyId === null || equal(authorityKeyId, subjectKeyId);
}

/** Follows link certificates from trusted authorities. Each round links at least one, or is the last. */
function linkEntries(entries: readonly Entry[], checker: SignatureChecker): void {
  let open = entries.filter((entry) => !entry.named);
  const byName = new Map<string, Entry[]>();
  for (const entry of entries) if (entry.named) addTo(byName, entry.certificate.subject.key, entry);
  for (let progress = true; progress && open.length > 0; ) {
    progress = false;
    for (const entry of open) {
      const { certificate } = entry;
      const parents = (byName.get(certificate.issuer.key) ?? []).filter(
        (parent) =>
          certificate.authorityKeyId === null ||
          parent.certificate.subjectKeyId === null ||
          equal(certificate.authorityKeyId, parent.certificate.subjectKeyId),
      );
      const parent = signerAmong(certificate, parents, checker);
      if (parent === null) continue;
      entry.linkedFrom = parent.fingerprint;
      addTo(byName, certificate.subject.key, entry);
      progress = true;
    }
    open = open.filter((entry) => entry.linkedFrom === null);
  }
}

function signerAmong<T extends { readonly certificate: Certificate }>(
  certificate: Certificate,
  candidates: readonly T[],
  checker: SignatureChecker,
): T | null {
  try {
    const { signatureScheme: scheme, tbs: message, signature } = certificate;
    return findSigner({ scheme, message, signature }, candidates, checker)?.candidates[0] ?? null;
  } catch (error) {
    if (isEmrtdError(error)) return null;
    throw error;
  }
}

export interface FoundSigner<T> {
  /** All candidates that hold the key which made the signature. */
  readonly candidates: readonly [T, ...T[]];
  readonly warnings: readonly SignatureWarning[];
}

/** The candidates whose key made the signature. Those that share a key cost one check, and only so many keys are tried. */
export function findSigner<T extends { readonly certificate: Certificate }>(
  signed: Omit<SignatureToCheck, "key">,
  candidates: readonly T[],
  checker: SignatureChecker,
  tolerance: SignatureTolerance = STORE_TOLERANCE,
): FoundSigner<T> | null {
  const tried: Uint8Array[] = [];
  for (const { certificate } of candidates) {
    const spki = certificate.subjectPublicKeyInfo;
    if (tried.some((other) => equal(other, spki))) continue;
    if (tried.length === MAX_KEYS_TRIED) return null;
    tried.push(spki);
    const verdict = tryKey(signed, certificate, checker, tolerance);
    if (!verdict.valid) continue;
    const [first, ...rest] = candidates.filter((other) =>
      equal(other.certificate.subjectPublicKeyInfo, spki),
    );
    if (first !== undefined) return { candidates: [first, ...rest], warnings: verdict.warnings };
  }
  return null;
}

/** A key of an unsupported kind cannot have signed anything that is understood here. */
function tryKey(
  signed: Omit<SignatureToCheck, "key">,
  certificate: Certificate,
  checker: SignatureChecker,
  tolerance: SignatureTolerance,
): SignatureVerdict {
  try {
    return checkSignature(checker, { ...signed, key: certificate.publicKey }, tolerance);
  } catch (error) {
    if (isEmrtdError(error)) return { valid: false, warnings: [] };
    throw error;
  }
}

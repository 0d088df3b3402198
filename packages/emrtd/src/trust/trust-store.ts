import { equal, toHex } from "../bytes.ts";
import type { SignatureTolerance } from "../crypto/check-signature.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";
import { type CertificateRevocationList, readCrl, readCrlIssuer } from "../x509/crl.ts";
import type { Authority, KnownRevocationList } from "./authority.ts";
import { type FoundSigner, findSigner, isOwnIssuer, keyIdFits, signerAmong } from "./find-signer.ts";
import { RevocationIndex, type RevocationStatus } from "./revocation.ts";
import type { TrustRecord, TrustSource } from "./trust-record.ts";

/** An ignored list, and the reason. */
export type RefusedRevocationList = {
  /** Key of the issuer's name, as in `DistinguishedName`; null if it could not be read. */
  readonly issuerKey: string | null;
  /** For people; null when the list could not be read. */
  readonly issuer: string | null;
  readonly thisUpdate: Date | null;
  readonly reason: string;
  readonly source: TrustSource;
};

/** An unreadable certificate of a record, which is ignored. */
export type UnreadableCertificate = {
  readonly fingerprint: string;
  readonly reason: string;
  readonly source: TrustSource;
};

type IssuerCandidates = {
  readonly authorities: readonly Authority[];
  readonly foundBy: "name_and_key_id" | "name" | "key_id";
};

const maxSignersKept = 256;

/** The last 48 bits of a signature suffice to find a certificate; the whole is compared afterwards. */
function memoKey(der: Uint8Array): number {
  let key = 0;
  for (let offset = Math.max(0, der.length - 6); offset < der.length; offset++)
    key = key * 256 + (der[offset] ?? 0);
  return key;
}

type Entry = {
  readonly certificate: Certificate;
  readonly fingerprint: string;
  readonly sources: TrustSource[];
  named: boolean;
  linkedFrom: string | null;
};

/**
 * The authorities and revocation lists of all records together. It is immutable, except for a cache of signer
 * certificates that chain to an authority, because a state signs a hundred thousand documents with each.
 */
export class TrustStore {
  readonly authorities: readonly Authority[];
  readonly revocationLists: readonly KnownRevocationList[];
  readonly unreadableCertificates: readonly UnreadableCertificate[];
  readonly #byName = new Map<string, Authority[]>();
  readonly #byKeyId = new Map<string, Authority[]>();
  readonly #unreadableLists: RefusedRevocationList[] = [];
  readonly #revocation: RevocationIndex;
  readonly #signers = new Map<number, Certificate>();
  readonly #certifiedBy = new WeakMap<
    Certificate,
    { readonly tolerance: SignatureTolerance; readonly found: FoundSigner<Authority> }
  >();

  constructor(records: readonly TrustRecord[], checker: SignatureChecker) {
    const { authorities, unreadable } = collectAuthorities(records, checker);
    this.authorities = authorities;
    this.unreadableCertificates = unreadable;
    for (const authority of this.authorities) {
      if (authority.basis === "none") continue;
      addTo(this.#byName, authority.certificate.subject.key, authority);
      const keyId = authority.certificate.subjectKeyId;
      if (keyId !== null) addTo(this.#byKeyId, toHex(keyId), authority);
    }
    this.revocationLists = this.#collectLists(records, checker);
    const trusted = this.authorities.filter(({ basis }) => basis !== "none");
    this.#revocation = new RevocationIndex(trusted, this.revocationLists, checker);
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0;
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
   * Those of the given authorities whose key certified the signer. A signer occurs in a hundred thousand
   * documents, so results are cached per tolerance.
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

  /** Only for signers that a trusted authority certified: others must not evict them. */
  rememberSigner(signer: Certificate): void {
    const key = memoKey(signer.der);
    if (this.#signers.get(key) === signer) return;
    const [oldest] = this.#signers.keys();
    if (this.#signers.size >= maxSignersKept && oldest !== undefined) this.#signers.delete(oldest);
    // A copy, or the certificate would keep the whole file that it came in.
    this.#signers.set(key, readCertificate(signer.der.slice()));
  }

  /** What the currently valid lists say about this authority and its certificates. */
  revocationOf(authority: Authority, now: Date): RevocationStatus {
    return this.#revocation.statusOf(authority, now);
  }

  /**
   * When this certificate, or its issuing authority in the store, was revoked; null if no valid list says so.
   */
  revokedAt(certificate: Certificate, checker: SignatureChecker, now: Date): Date | null {
    const issuer = signerAmong(certificate, this.issuersOf(certificate).authorities, checker);
    if (issuer === null) return null;
    const { lists, authorityRevokedAt } = this.revocationOf(issuer, now);
    const listing = lists.find(({ revokedAt }) => revokedAt.has(certificate.serial));
    return listing?.revokedAt.get(certificate.serial) ?? authorityRevokedAt;
  }

  /** Whether a list of this store counts at this time. */
  counts(known: KnownRevocationList, now: Date): boolean {
    return this.#revocation.refusalOf(known, now) === null;
  }

  /** The lists that are ignored at this time. */
  refusedLists(now: Date): readonly RefusedRevocationList[] {
    const refused = this.revocationLists.flatMap((known): readonly RefusedRevocationList[] => {
      const reason = this.#revocation.refusalOf(known, now);
      if (reason === null) return [];
      const { list, source } = known;
      const { key: issuerKey, display: issuer } = list.issuer;
      return [{ issuerKey, issuer, thisUpdate: list.thisUpdate, reason, source }];
    });
    return [...this.#unreadableLists, ...refused];
  }

  /** Whether the store has a list of the authority's name that cannot be used. */
  hasRefusedList({ certificate }: Authority, now: Date): boolean {
    return this.refusedLists(now).some(({ issuerKey }) => issuerKey === certificate.subject.key);
  }

  #collectLists(records: readonly TrustRecord[], checker: SignatureChecker): readonly KnownRevocationList[] {
    const known: KnownRevocationList[] = [];
    for (const { source, revocationLists } of records) {
      for (const bytes of revocationLists) {
        const list = this.#readList(bytes, source);
        if (list !== null) known.push({ list, issuer: this.#signerOf(list, checker), source });
      }
    }
    return known;
  }

  /** A list that an earlier version let in must not keep the others, and all authorities, from being used. */
  #readList(bytes: Uint8Array, source: TrustSource): CertificateRevocationList | null {
    try {
      return readCrl(bytes);
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      const name = readCrlIssuer(bytes);
      this.#unreadableLists.push({
        issuerKey: name?.key ?? null,
        issuer: name?.display ?? null,
        thisUpdate: null,
        reason: error.message,
        source,
      });
      return null;
    }
  }

  /** Only a key of the list's name can have signed it; the key id only selects which one to try first. */
  #signerOf(list: CertificateRevocationList, checker: SignatureChecker): Authority | null {
    const named = this.#byName.get(list.issuer.key) ?? [];
    const { authorityKeyId } = list;
    const isMeant = ({ certificate: { subjectKeyId } }: Authority) =>
      authorityKeyId !== null && subjectKeyId !== null && equal(subjectKeyId, authorityKeyId);
    const candidates = [...named.filter(isMeant), ...named.filter((authority) => !isMeant(authority))];
    const { signatureScheme: scheme, tbs: message, signature } = list;
    return findSigner({ scheme, message, signature }, candidates, checker)?.candidates[0] ?? null;
  }
}

function addTo<T>(index: Map<string, T[]>, key: string, item: T): void {
  const items = index.get(key);
  if (items === undefined) index.set(key, [item]);
  else items.push(item);
}

/** A certificate that an earlier version let in must not keep all others from being used. */
function collectAuthorities(
  records: readonly TrustRecord[],
  checker: SignatureChecker,
): { readonly authorities: readonly Authority[]; readonly unreadable: readonly UnreadableCertificate[] } {
  const entries = new Map<string, Entry>();
  const unreadable: UnreadableCertificate[] = [];
  for (const { source, certificates } of records) {
    for (const bytes of certificates) {
      const fingerprint = toHex(checker.hash("SHA-256", bytes));
      const known = entries.get(fingerprint);
      if (known === undefined) {
        const certificate = readOrReport(bytes, (reason) => unreadable.push({ fingerprint, reason, source }));
        if (certificate === null) continue;
        // A self-signed certificate was checked on import; any other needs a list or a parent.
        const named = source.signedBy !== null || isOwnIssuer(certificate);
        entries.set(fingerprint, { certificate, fingerprint, sources: [source], named, linkedFrom: null });
      } else {
        known.sources.push(source);
        known.named ||= source.signedBy !== null;
      }
    }
  }
  linkEntries([...entries.values()], checker);
  const authorities = [...entries.values()].map(
    ({ certificate, fingerprint, sources, named, linkedFrom }): Authority => ({
      certificate,
      fingerprint,
      basis: named ? "named" : linkedFrom === null ? "none" : "linked",
      linkedFrom: named ? null : linkedFrom,
      sources,
    }),
  );
  return { authorities, unreadable };
}

function readOrReport(bytes: Uint8Array, report: (reason: string) => void): Certificate | null {
  try {
    return readCertificate(bytes);
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    report(error.message);
    return null;
  }
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
      const parents = (byName.get(certificate.issuer.key) ?? []).filter((parent) =>
        keyIdFits(certificate, parent.certificate),
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

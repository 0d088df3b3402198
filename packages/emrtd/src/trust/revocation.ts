import { toHex } from "../bytes.ts";
import { isInFuture } from "../clock-skew.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { type CertificateRevocationList, compareListAge } from "../x509/crl.ts";
import type { Authority, KnownRevocationList } from "./authority.ts";
import { isOwnIssuer, keyIdFits, signerAmong } from "./find-signer.ts";

export type RevocationStatus = {
  /**
   * The list under the authority's name and those of its successor names, newest first.
   * A serial on any is revoked.
   */
  readonly lists: readonly CertificateRevocationList[];
  /** When the authority itself was revoked; null when it was not. */
  readonly authorityRevokedAt: Date | null;
};

type SignedList = {
  readonly list: CertificateRevocationList;
  readonly signer: Authority;
};

type RevokedKey = {
  readonly at: Date;
  /** The list with the revocation, which counts from its own date on. */
  readonly by: CertificateRevocationList;
};

/**
 * An issuer of revocation lists: one authority under one name, with all its keys. A list belongs to the name
 * (RFC 5280 section 5, Doc 9303 part 12), not to the signing key. So it applies to certificates of every key
 * of the name.
 */
type ListIssuer = {
  /** Valid lists, oldest first. */
  readonly lists: CertificateRevocationList[];
  /** Its successors. Their revocations include certificates of this one. */
  readonly successors: Set<ListIssuer>;
  /** The certificates of authorities that it issued: its own, and links to its successors. */
  readonly issued: Set<Authority>;
  /**
   * By public key: a root and a link to it are two certificates of one key,
   * and revoking the key affects both.
   */
  readonly revokedKeys: Map<string, RevokedKey>;
};

const nothingKnown: RevocationStatus = { lists: [], authorityRevokedAt: null };

/** Which lists count for which authority. Everything is put in place once, so that asking is a lookup. */
export class RevocationIndex {
  readonly #issuerOf: ReadonlyMap<Authority, ListIssuer>;
  /** An issuer and all that took over from it, one after the other. */
  readonly #covering = new Map<ListIssuer, readonly ListIssuer[]>();
  readonly #signedWithRevokedKey = new Set<CertificateRevocationList>();

  constructor(
    trusted: readonly Authority[],
    known: readonly KnownRevocationList[],
    checker: SignatureChecker,
  ) {
    const usable = known.flatMap(({ list, issuer }): readonly SignedList[] =>
      issuer === null ? [] : [{ list, signer: issuer }],
    );
    // Grouping costs signature checks, and lists never cover another state.
    const states = new Set(usable.map(({ signer }) => stateOf(signer)));
    const concerned = trusted.filter((authority) => states.has(stateOf(authority)));
    this.#issuerOf = groupByIssuer(concerned, checker);
    const oldestFirst = usable.toSorted((a, b) => compareListAge(a.list, b.list));
    this.#countLists(oldestFirst);
    for (const issuer of new Set(this.#issuerOf.values())) this.#covering.set(issuer, withSuccessors(issuer));
  }

  statusOf(authority: Authority, now: Date): RevocationStatus {
    const issuer = this.#issuerOf.get(authority);
    if (issuer === undefined) return nothingKnown;
    const lists: CertificateRevocationList[] = [];
    for (const { lists: oldestFirst } of this.#covering.get(issuer) ?? []) {
      const last = oldestFirst.findLastIndex(({ thisUpdate }) => !isInFuture(thisUpdate, now));
      lists.push(...newestUpTo(oldestFirst, last));
    }
    if (lists.length > 1) lists.sort((a, b) => compareListAge(b, a));
    const revoked = issuer.revokedKeys.size > 0 ? issuer.revokedKeys.get(keyOf(authority)) : undefined;
    const counts = revoked !== undefined && !isInFuture(revoked.by.thisUpdate, now);
    return { lists, authorityRevokedAt: counts ? revoked.at : null };
  }

  /** Why a list is ignored, for people; null if it counts, or did before a newer one. */
  refusalOf({ list, issuer }: KnownRevocationList, now: Date): string | null {
    if (issuer === null) return "No trusted authority of its name signed it";
    if (this.#signedWithRevokedKey.has(list))
      return "It was signed with a key that the authority has revoked";
    if (isInFuture(list.thisUpdate, now)) return "It is dated in the future";
    return null;
  }

  /**
   * From oldest to newest, because a list can revoke a key of its authority. Later lists of that key do not
   * count: otherwise a thief could undo every revocation with a newer list. Only its revocations of keys
   * still count; otherwise a thief with an early date could first revoke the key that revokes the stolen one.
   */
  #countLists(oldestFirst: readonly SignedList[]): void {
    const revokedByAnother = new Map<ListIssuer, Set<string>>();
    for (const { list, signer } of oldestFirst) {
      const issuer = this.#issuerOf.get(signer);
      if (issuer === undefined) continue;
      const listKey = keyOf(signer);
      if (revokedByAnother.get(issuer)?.has(listKey) === true) this.#signedWithRevokedKey.add(list);
      else issuer.lists.push(list);
      for (const authority of issuer.issued) {
        const at = list.revokedAt.get(authority.certificate.serial);
        const subject = this.#issuerOf.get(authority);
        if (at === undefined || subject === undefined) continue;
        const key = keyOf(authority);
        if (!subject.revokedKeys.has(key)) subject.revokedKeys.set(key, { at, by: list });
        if (key === listKey) continue;
        const keys = revokedByAnother.get(subject) ?? new Set();
        revokedByAnother.set(subject, keys.add(key));
      }
    }
  }
}

/** One list, or several where nothing says which of them is the newest. */
function newestUpTo(
  oldestFirst: readonly CertificateRevocationList[],
  last: number,
): readonly CertificateRevocationList[] {
  const newest = oldestFirst[last];
  if (newest === undefined) return [];
  let first = last;
  for (let before = oldestFirst[first - 1]; before !== undefined; before = oldestFirst[first - 1]) {
    if (compareListAge(before, newest) !== 0) break;
    first--;
  }
  return oldestFirst.slice(first, last + 1);
}

function keyOf({ certificate }: Authority): string {
  return toHex(certificate.subjectPublicKeyInfo);
}

function stateOf({ certificate }: Authority): string | null {
  return certificate.subject.country?.toUpperCase() ?? null;
}

function withSuccessors(issuer: ListIssuer): readonly ListIssuer[] {
  const found = new Set([issuer]);
  // A set that grows while it is walked is walked to its end.
  for (const member of found) for (const successor of member.successors) found.add(successor);
  return [...found];
}

/**
 * Two certificates belong to one issuer if they have the same name, and the same state or key. A name without
 * a state may belong to two states, so there a new key needs a link certificate, and so does a new name.
 */
function groupByIssuer(
  trusted: readonly Authority[],
  checker: SignatureChecker,
): ReadonlyMap<Authority, ListIssuer> {
  const byFingerprint = new Map(trusted.map((authority) => [authority.fingerprint, authority]));
  const byName = Map.groupBy(trusted, ({ certificate }) => certificate.subject.key);
  const issuerOf = new Map<Authority, ListIssuer>();

  for (const authorities of byName.values()) {
    const ofState = authorities.filter(
      (authority) => stateOf(authority) !== null && speaksForItsState(authority, byFingerprint),
    );
    const byKey = new Map<string, ListIssuer>();
    if (ofState.length > 0) {
      const shared = newIssuer();
      for (const authority of ofState) byKey.set(keyOf(authority), shared);
    }
    for (const authority of authorities) {
      const key = keyOf(authority);
      const issuer = byKey.get(key) ?? newIssuer();
      byKey.set(key, issuer);
      issuerOf.set(authority, issuer);
    }
  }
  followLinks(trusted, issuerOf, byName, byFingerprint, checker);
  followSharedKeys(trusted, issuerOf);
  return issuerOf;
}

function newIssuer(): ListIssuer {
  return {
    lists: [],
    successors: new Set(),
    issued: new Set(),
    revokedKeys: new Map(),
  };
}

/** Otherwise an authority could link its key to the name of another state and act for it. */
function speaksForItsState(authority: Authority, byFingerprint: ReadonlyMap<string, Authority>): boolean {
  for (let current = authority; current.linkedFrom !== null; ) {
    const parent = byFingerprint.get(current.linkedFrom);
    if (parent === undefined || stateOf(parent) !== stateOf(authority)) return false;
    current = parent;
  }
  return true;
}

function followLinks(
  trusted: readonly Authority[],
  issuerOf: ReadonlyMap<Authority, ListIssuer>,
  byName: ReadonlyMap<string, readonly Authority[]>,
  byFingerprint: ReadonlyMap<string, Authority>,
  checker: SignatureChecker,
): void {
  for (const authority of trusted) {
    const { certificate, linkedFrom } = authority;
    const issuer = issuerOf.get(authority);
    if (issuer === undefined) continue;
    if (certificate.isSelfIssued && (stateOf(authority) !== null || isOwnIssuer(certificate))) {
      issuer.issued.add(authority);
      continue;
    }
    const possible = (byName.get(certificate.issuer.key) ?? []).filter((other) =>
      keyIdFits(certificate, other.certificate),
    );
    // A master list names links without a look at who signed them, so that is looked at here.
    const parent =
      linkedFrom === null
        ? signerAmong(certificate, possible, checker)
        : (byFingerprint.get(linkedFrom) ?? null);
    const predecessor = parent === null ? undefined : issuerOf.get(parent);
    if (parent === null || predecessor === undefined) continue;
    const sameState = stateOf(parent) !== null && stateOf(parent) === stateOf(authority);
    if (!sameState && !certificate.isSelfIssued) continue;
    predecessor.issued.add(authority);
    if (predecessor !== issuer && (certificate.isSelfIssued || speaksForItsState(authority, byFingerprint)))
      predecessor.successors.add(issuer);
  }
}

/** One key under two names of one state is one authority, whichever name is newer. */
function followSharedKeys(trusted: readonly Authority[], issuerOf: ReadonlyMap<Authority, ListIssuer>): void {
  const withState = trusted.filter((authority) => stateOf(authority) !== null);
  const byKeyAndState = Map.groupBy(withState, (authority) => `${stateOf(authority)} ${keyOf(authority)}`);
  for (const authorities of byKeyAndState.values()) {
    if (authorities.length === 1) continue;
    const issuers = new Set(authorities.flatMap((authority) => issuerOf.get(authority) ?? []));
    for (const one of issuers) for (const other of issuers) if (one !== other) one.successors.add(other);
  }
}

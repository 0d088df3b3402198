import { fromBase64 } from "../base64.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";
import type { Authority } from "./authority.ts";
import type { TrustSource } from "./trust-record.ts";
import type { RefusedRevocationList, TrustStore, UnreadableCertificate } from "./trust-store.ts";

export type CountryAudit = {
  /** Upper case, as in the certificates; "??" when a certificate names none. */
  readonly country: string;
  readonly authorities: number;
  readonly validNow: number;
  readonly revocationList: "fresh" | "stale" | "missing";
  /** When the newest list was made. */
  readonly revocationListFrom: Date | null;
};

type TrustAudit = {
  readonly countries: readonly CountryAudit[];
  readonly authorities: number;
  /** Past their validity. Documents signed while they were valid still verify. */
  readonly expired: readonly Authority[];
  readonly notYetValid: readonly Authority[];
  /** Link certificates whose predecessor is not trusted: they vouch for nothing until it is imported. */
  readonly withoutParent: readonly Authority[];
  /** Unreadable certificates, which are ignored. */
  readonly unreadable: readonly UnreadableCertificate[];
  readonly revocationLists: number;
  /** Lists that no trusted authority signed. */
  readonly revocationListsWithoutIssuer: number;
  /** All ignored lists, including those that no trusted authority signed. */
  readonly revocationListsRefused: readonly RefusedRevocationList[];
};

export function countryOf({ certificate }: Authority): string {
  return (certificate.subject.country ?? certificate.issuer.country ?? "??").toUpperCase();
}

export function auditTrust(store: TrustStore, now: Date): TrustAudit {
  const byCountry = Map.groupBy(store.authorities, countryOf);
  const countries = [...byCountry].map(([country, authorities]) =>
    auditCountry(country, authorities, store, now),
  );
  return {
    countries: countries.sort((a, b) => (a.country < b.country ? -1 : 1)),
    authorities: store.authorities.length,
    expired: store.authorities.filter(({ certificate }) => certificate.notAfter < now),
    notYetValid: store.authorities.filter(({ certificate }) => certificate.notBefore > now),
    withoutParent: store.authorities.filter(({ basis }) => basis === "none"),
    unreadable: store.unreadableCertificates,
    revocationLists: store.revocationLists.length,
    revocationListsWithoutIssuer: store.revocationLists.filter(({ issuer }) => issuer === null).length,
    revocationListsRefused: store.refusedLists(now),
  };
}

function auditCountry(
  country: string,
  authorities: readonly Authority[],
  store: TrustStore,
  now: Date,
): CountryAudit {
  let newest: { readonly from: Date; readonly until: Date | null } | null = null;
  for (const authority of authorities) {
    const [list] = store.revocationOf(authority, now).lists;
    if (list !== undefined && (newest === null || list.thisUpdate > newest.from)) {
      newest = { from: list.thisUpdate, until: list.nextUpdate };
    }
  }
  const fresh = newest !== null && newest.until !== null && newest.until >= now;
  return {
    country,
    authorities: authorities.length,
    validNow: authorities.filter(({ certificate, basis }) => basis !== "none" && certificate.isValidAt(now))
      .length,
    revocationList: newest === null ? "missing" : fresh ? "fresh" : "stale",
    revocationListFrom: newest?.from ?? null,
  };
}

/**
 * Master lists whose signer was revoked after their import. Their authorities stay trusted until the operator
 * decides: a state that retires a signer does not mean to withdraw all authorities.
 */
export function listsOfRevokedSigners(
  store: TrustStore,
  checker: SignatureChecker,
  now: Date,
): readonly TrustSource[] {
  const sources = new Map(
    store.authorities.flatMap(({ sources }) =>
      sources.map((source) => [`${source.sha256} ${source.signedBy?.signerSha256}`, source] as const),
    ),
  );
  return [...sources.values()].filter(({ signedBy }) => {
    if (signedBy === null || signedBy.signerCertificate === null) return false;
    const signer = readKeptSigner(signedBy.signerCertificate);
    return signer !== null && store.revokedAt(signer, checker, now) !== null;
  });
}

/** An unreadable one says nothing, and must not hide the others. */
function readKeptSigner(encoded: string): Certificate | null {
  try {
    return readCertificate(fromBase64(encoded));
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return null;
  }
}

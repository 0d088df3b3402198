import type { Purpose } from "@assay/credential/trust-anchor";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { auditTrust, type CountryAudit, listsOfRevokedSigners } from "@assay/emrtd/trust/audit-trust";
import { importTrust, type TrustImport } from "@assay/emrtd/trust/import-trust";
import { readDeviationLists } from "@assay/emrtd/trust/known-deviations";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { readCrl } from "@assay/emrtd/x509/crl";
import { revocationListAddresses } from "@assay/emrtd/x509/distribution-points";
import type { WalletListAnswer } from "./read-wallet-list.ts";
import { rootsOf } from "./trust-roots.ts";
import { type TrustSnapshot, unpackTrust } from "./trust-snapshot.ts";

/** Work on the trust store that takes time, for a separate thread. */
export type TrustTask =
  | {
      kind: "read_edition";
      trust: TrustSnapshot;
      bytes: Uint8Array;
      label: string;
      pins: readonly string[];
      nowMs: number;
    }
  /** A list of wallet issuers, which a pinned signer must have signed. */
  | { kind: "read_wallet_list"; bytes: Uint8Array; purpose: Purpose; pins: readonly string[]; nowMs: number }
  | { kind: "survey"; trust: TrustSnapshot; nowMs: number };

export type TaskOf<K extends TrustTask["kind"]> = Extract<TrustTask, { kind: K }>;

export type TrustTaskAnswer = {
  read_edition: EditionAnswer;
  read_wallet_list: WalletListAnswer;
  survey: TrustSurvey;
};

/** A usable edition of a source, or why it is refused. */
export type EditionAnswer =
  | { kind: "usable"; records: readonly TrustRecord[]; at: Date; leftOut: number }
  | { kind: "refused"; reason: string };

export type TrustSurvey = {
  version: number;
  countries: readonly CountryAudit[];
  /** Where trusted authorities publish their revocation lists. */
  revocationListAddresses: readonly string[];
  /** Imported files whose master list has a signer that has been revoked since. */
  filesOfRevokedSigners: readonly string[];
};

export function surveyTrust({ trust, nowMs }: TaskOf<"survey">, checker: SignatureChecker): TrustSurvey {
  const store = new TrustStore(unpackTrust(trust), checker);
  const trusted = store.authorities.filter(({ basis }) => basis !== "none");
  const now = new Date(nowMs);
  return {
    version: trust.version,
    countries: auditTrust(store, now).countries,
    filesOfRevokedSigners: listsOfRevokedSigners(store, checker, now).map(({ sha256 }) => sha256),
    revocationListAddresses: [
      ...new Set(trusted.flatMap(({ certificate }) => revocationListAddresses(certificate.der))),
    ].sort(),
  };
}

/**
 * A source may bring master lists of a pinned signer or root, revocation lists of a trusted
 * authority, and deviation lists of a certified signer. Only the operator can vouch for a single certificate,
 * so a source may not bring one.
 */
export function readEdition(
  { trust, bytes, label, pins, nowMs }: TaskOf<"read_edition">,
  checker: SignatureChecker,
): EditionAnswer {
  const now = new Date(nowMs);
  const before = unpackTrust(trust);
  const store = new TrustStore(before, checker);
  const roots = pins.length > 0 ? [] : rootsOf(store);
  let found: TrustImport;
  try {
    found = importTrust(bytes, { label, checker, roots, pinnedSha256: pins, now, trust: store });
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return { kind: "refused", reason: error.message };
  }
  const masterLists = found.records.filter(({ source }) => source.signedBy !== null);
  const loose = found.records
    .filter(({ source }) => source.signedBy === null)
    .map((record) => onlySigned({ ...record, certificates: [] }, [...before, ...masterLists], checker, now));
  const lists = loose.map(({ record }) => record).filter(holdsSomething);
  const records = [...masterLists, ...lists];
  if (records.length === 0) {
    const reason =
      found.rejected[0]?.reason ??
      loose.flatMap(({ reasons }) => reasons)[0] ??
      "Nothing in it is signed by an authority that is trusted";
    return { kind: "refused", reason };
  }
  const times = [...records.flatMap(timesOf), ...loose.flatMap(({ deviationsAt }) => deviationsAt)];
  const at = new Date(Math.max(...times.map((time) => time?.getTime() ?? Number.NaN)));
  // Without a time, an older edition cannot be distinguished from a newer one.
  if (Number.isNaN(at.getTime())) return { kind: "refused", reason: "It does not say when it was signed" };
  return { kind: "usable", records, at, leftOut: found.rejected.length };
}

function holdsSomething({ revocationLists, deviationLists = [] }: TrustRecord): boolean {
  return revocationLists.length + deviationLists.length > 0;
}

type OnlySigned = { record: TrustRecord; deviationsAt: readonly (Date | null)[]; reasons: readonly string[] };

/** Keeps only lists signed by a trusted authority; explains each rejected deviation list. */
function onlySigned(
  record: TrustRecord,
  beside: readonly TrustRecord[],
  checker: SignatureChecker,
  now: Date,
): OnlySigned {
  const store = new TrustStore([...beside, record], checker);
  const { deviationLists: _, ...rest } = record;
  const { lists, refused } = readDeviationLists([record], { checker, trust: store, now });
  return {
    record: {
      ...rest,
      revocationLists: signedRevocationLists(record, store, now),
      ...(lists.length === 0 ? {} : { deviationLists: lists.map(({ der }) => der) }),
    },
    deviationsAt: lists.map(({ list }) => list.signedAt),
    reasons: refused.map(({ reason }) => reason),
  };
}

function signedRevocationLists(record: TrustRecord, store: TrustStore, now: Date): readonly Uint8Array[] {
  return store.revocationLists
    .filter((known) => known.source === record.source && store.counts(known, now))
    .map(({ list }) => list.der);
}

function timesOf({ source, revocationLists }: TrustRecord): readonly (Date | null)[] {
  if (source.signedBy !== null)
    return [source.signedBy.signedAt === null ? null : new Date(source.signedBy.signedAt)];
  return revocationLists.map((list) => readCrl(list).thisUpdate);
}

import type { DomainChallenge, RedirectUri, VerifiedDomain } from "@assay/contract/domains";
import { shownDomain } from "@assay/contract/shown-domain";
import type { Static } from "typebox";
import type { ChallengeRow, DomainRow } from "./domain.store.ts";
import { recordName } from "./domain.ts";
import type { RedirectUriRow } from "./redirect-uri.store.ts";

export function viewDomain(row: DomainRow): Static<typeof VerifiedDomain> {
  return {
    id: row.id,
    apexDomain: row.apexDomain,
    apexDomainUnicode: shownDomain(row.apexDomain),
    verifiedAt: row.verifiedAt.toISOString(),
    verifiedVia: "dns_txt",
    recordName: recordName(row.apexDomain),
    recordValue: row.recordValue,
    lastCheckedAt: row.lastCheckedAt?.toISOString() ?? null,
    downgradedAt: row.downgradedAt?.toISOString() ?? null,
  };
}

export function viewChallenge(row: ChallengeRow): Static<typeof DomainChallenge> {
  return {
    id: row.id,
    apexDomain: row.apexDomain,
    apexDomainUnicode: shownDomain(row.apexDomain),
    method: "dns_txt",
    recordName: recordName(row.apexDomain),
    recordValue: row.recordValue,
    expiresAt: row.expiresAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
  };
}

export function viewRedirectUri(row: RedirectUriRow): Static<typeof RedirectUri> {
  return { ...row, createdAt: row.createdAt.toISOString() };
}

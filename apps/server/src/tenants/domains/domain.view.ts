import type { DomainChallenge, RedirectUri, VerifiedDomain } from "@assay/contract/domains";
import { shownDomain } from "@assay/contract/shown-domain";
import type { Static } from "typebox";
import type { ChallengeRow, DomainRow } from "./domain.store.ts";
import { recordName } from "./domain.ts";
import type { RedirectUriRow } from "./redirect-uri.store.ts";

export function viewDomain(row: DomainRow): Static<typeof VerifiedDomain> {
  return {
    id: row.id,
    apexDomain: row.apex_domain,
    apexDomainUnicode: shownDomain(row.apex_domain),
    verifiedAt: row.verified_at.toISOString(),
    verifiedVia: "dns_txt",
    recordName: recordName(row.apex_domain),
    recordValue: row.record_value,
    lastCheckedAt: row.last_checked_at?.toISOString() ?? null,
    downgradedAt: row.downgraded_at?.toISOString() ?? null,
  };
}

export function viewChallenge(row: ChallengeRow): Static<typeof DomainChallenge> {
  return {
    id: row.id,
    apexDomain: row.apex_domain,
    apexDomainUnicode: shownDomain(row.apex_domain),
    method: "dns_txt",
    recordName: recordName(row.apex_domain),
    recordValue: row.record_value,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
  };
}

export function viewRedirectUri(row: RedirectUriRow): Static<typeof RedirectUri> {
  return {
    id: row.id,
    verifiedDomainId: row.verified_domain_id,
    apexDomain: row.apex_domain,
    pattern: row.pattern,
    createdAt: row.created_at.toISOString(),
  };
}

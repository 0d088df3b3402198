import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { findActiveDomains } from "./redirect-uri.store.ts";
import {
  domainsAbove,
  isPlainHttps,
  matchesRedirectPattern,
  parseRedirectPattern,
  pathSegments,
} from "./redirect-uri.ts";

/**
 * Why a live organization may not redirect people to this address, as a sentence for the partner, or null.
 */
export async function liveRedirectProblem(
  db: Queryable,
  organizationId: OrganizationId,
  url: URL,
): Promise<string | null> {
  if (!isPlainHttps(url))
    return "it is not a plain https address: use the default port, no credentials and a host name";
  if (pathSegments(url.pathname) === null)
    return "its path has an encoding that servers may read differently";
  const [domain] = await findActiveDomains(db, organizationId, domainsAbove(url.hostname));
  if (domain === undefined) return "its host is not on a verified domain of the organization";
  if (domain.patterns.length === 0) return null;
  const allowed = domain.patterns.some((text) => {
    const pattern = parseRedirectPattern(text);
    return !("problem" in pattern) && matchesRedirectPattern(pattern, url);
  });
  return allowed ? null : "it matches none of the registered redirect URIs of its domain";
}

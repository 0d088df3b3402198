import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { findActiveDomains } from "../../tenants/domains/redirect-uri.store.ts";
import { domainsAbove, isPlainHttps } from "../../tenants/domains/redirect-uri.ts";

/** An origin in the form that browsers compare, or what is wrong with the text. */
export function parseEmbedOrigin(text: string): { origin: URL } | { problem: string } {
  const url = URL.parse(text);
  // Anything beyond the origin would be ignored without the partner's knowledge, so it is refused.
  if (url === null || url.hostname.includes("*") || url.origin.toLowerCase() !== text.toLowerCase())
    return { problem: "must be an origin: scheme and host, with the port where it is not the usual one" };
  return { origin: url };
}

/**
 * Why pages of this origin may not frame the session, as the rest of a sentence, or null. A framing page
 * could cover the content, so even the sandbox needs a verified domain or localhost.
 */
export async function embedOriginProblem(
  db: Queryable,
  session: { organizationId: OrganizationId; sandbox: boolean },
  origin: URL,
): Promise<string | null> {
  const { protocol, hostname } = origin;
  if (session.sandbox && hostname === "localhost" && (protocol === "http:" || protocol === "https:"))
    return null;
  if (!isPlainHttps(origin))
    return session.sandbox
      ? "must begin with https:// and have the default port, or be http://localhost with any port in the sandbox"
      : "must begin with https:// and have the default port";
  const [domain] = await findActiveDomains(db, session.organizationId, domainsAbove(hostname));
  return domain === undefined ? "is not on a verified domain of the organization" : null;
}

import type { Queryable } from "../db/db.ts";

/** Why a live organization may not send people to this address, as a sentence for the partner, or null when it may. */
export async function liveRedirectProblem(
  _db: Queryable,
  _organizationId: string,
  _url: URL,
): Promise<string | null> {
  return "its host is not on a verified domain of the organization";
}

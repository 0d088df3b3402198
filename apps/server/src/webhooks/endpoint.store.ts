import type { Queryable } from "../db/db.ts";

/** Whether a session may be bound to this endpoint: it is the organization's and enabled. */
export async function isUsableEndpoint(
  _db: Queryable,
  _organizationId: string,
  _endpointId: string,
): Promise<boolean> {
  return false;
}

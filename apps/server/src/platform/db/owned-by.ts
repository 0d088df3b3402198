import { isSandbox, type Tenant } from "../kernel/caller.ts";
import { noSql, type Sql, sql } from "./sql.ts";

/**
 * Condition for the rows of a tenant in one environment. Every index for lists of such a table begins with
 * these two columns. `of` is the qualifier of the table in the statement, with its dot.
 */
export function ownedBy(tenant: Tenant, of: Sql = noSql): Sql {
  return sql`${of}organization_id = ${tenant.organizationId} and ${of}sandbox = ${isSandbox(tenant)}`;
}

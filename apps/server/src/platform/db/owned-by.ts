import { isSandbox, type Tenant } from "../kernel/caller.ts";
import { noSql, type Sql, sql } from "./sql.ts";

/**
 * Holds for the rows of a tenant, in a table whose rows belong to an environment. The two columns are the first of every index that lists such a table, so
 * this is where a list begins, and not something that is looked for in it. `of` is the name of the table in the statement, with its dot.
 */
export function ownedBy(tenant: Tenant, of: Sql = noSql): Sql {
  return sql`${of}organization_id = ${tenant.organizationId} and ${of}sandbox = ${isSandbox(tenant)}`;
}

import type { Queryable } from "../../apps/server/src/platform/db/db.ts";
import type { Sql } from "../../apps/server/src/platform/db/sql.ts";

/** The statement that the service sends for this request, so that the bare server sends the same one. */
export function statementOf(ask: (db: Queryable) => unknown): Sql {
  const seen: Sql[] = [];
  const keep = async (statement: Sql): Promise<never> => {
    seen.push(statement);
    return [] as never;
  };
  ask({
    rows: keep,
    one: keep,
    first: keep,
    run: keep,
    notify: () => {},
  });
  const [statement] = seen;
  if (statement === undefined) throw new Error("nothing was asked");
  return statement;
}

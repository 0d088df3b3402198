import type pg from "pg";

/**
 * An id like those of the service, from a column of milliseconds:
 * eight characters of time, the rest arbitrary.
 */
export function idSql(prefix: string, milliseconds: string, salt: string): string {
  const characters = [7, 6, 5, 4, 3, 2, 1, 0].map(
    (place) => `substr('${alphabet}', 1 + (${milliseconds} / ${62 ** place} % 62)::int, 1)`,
  );
  return `'${prefix}' || ${characters.join(" || ")} || md5(${salt}::text) || left(md5('x' || ${salt}), 24)`;
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Fills a table without its indexes and builds them afterwards: many times faster than maintaining them. */
export async function loadBare(
  client: pg.ClientBase,
  table: string,
  load: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query(
    `select c.relname as name, pg_get_constraintdef(k.oid) as "constraint", replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ') as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_constraint k on k.conindid = c.oid and k.contype = 'p'
    where i.indrelid = $1::regclass`,
    [table],
  );
  const indexes = rows as { name: string; constraint: string | null; definition: string }[];
  for (const { name, constraint } of indexes)
    await client.query(
      constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`,
    );
  await load();
  await client.query("set maintenance_work_mem = '512MB'");
  for (const { name, constraint, definition } of indexes)
    await client.query(
      constraint === null ? definition : `alter table ${table} add constraint ${name} ${constraint}`,
    );
}

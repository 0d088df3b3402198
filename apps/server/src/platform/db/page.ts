import type { IdPrefix } from "@assay/contract/facts";
import type { Page } from "@assay/contract/route";
import { ApiError } from "../kernel/api-error.ts";
import { later } from "../kernel/clock.ts";
import { idFloor } from "../kernel/ids.ts";
import type { Queryable } from "./db.ts";
import type { RowOf } from "./pipeline.ts";
import { joinSql, noSql, type Sql, sql } from "./sql.ts";

/**
 * One page of a list that is ordered by `id`, newest first. `rowsAfter` gets how many rows to read (one more than the
 * page, to know whether there are more); `cursorExists` tells whether the caller's cursor is a row of theirs.
 */
export async function readPage<R extends RowOf<R> & { id: string }>(
  db: Queryable,
  page: {
    limit: number;
    startingAfter: R["id"] | undefined;
    cursorExists: (id: R["id"]) => Sql;
    rowsAfter: (limit: number) => Sql;
  },
): Promise<Page<R>> {
  if (page.startingAfter !== undefined && (await db.first(page.cursorExists(page.startingAfter))) === null) {
    throw new ApiError("INVALID_REQUEST", {
      message: "`starting_after` names no item of this list.",
      hint: "Pass `pagination.next_cursor` of the page before, or leave it out to begin at the newest item.",
    });
  }
  const rows = await db.rows<R>(page.rowsAfter(page.limit + 1));
  const items = rows.slice(0, page.limit);
  const hasMore = rows.length > page.limit;
  return { items, hasMore, nextCursor: hasMore ? (items.at(-1)?.id ?? null) : null };
}

/**
 * The order of a range that is read by an index with the beginnings of ids. Where the limit would part rows with the same beginning, all of them are read; who sorts them by
 * their whole ids is `newestOf`. With `limit` null everything is.
 */
export function byBeginning(key: Sql, limit: number | null): Sql {
  return sql`order by ${key} desc ${limit === null ? sql`offset 0` : sql`fetch first (${limit}::bigint) rows with ties`}`;
}

/** One page of several ranges that are each ordered by `key`, newest first; with `limit` null all of it. */
export function newestOf(ranges: readonly Sql[], key: Sql, limit: number | null): Sql {
  const all = joinSql(
    ranges.map((range) => sql`(${range})`),
    sql` union all `,
  );
  return sql`select * from (${all}) as ranges order by ${key} desc ${limit === null ? noSql : sql`limit ${limit}`}`;
}

/**
 * The same where the ranges are alike but for some values, of which there is a row for each range; the range knows them by the names that are given to `each`. The index is then
 * opened once and gone to for each of them: seven types of events take 68 µs of the backend's time instead of 97. Where the ranges are in the order of the page already, `newestOf` reads less of them. Rows
 * and not arrays, whose length PostgreSQL does not know when it plans for all values, so that it would plan anew each time.
 */
export function newestOfEach(
  each: Sql,
  rows: readonly Sql[],
  range: Sql,
  key: Sql,
  limit: number | null,
): Sql {
  const values = joinSql(
    rows.map((row) => sql`(${row})`),
    sql`, `,
  );
  return sql`select ranges.* from (values ${values}) as each (${each}) cross join lateral (${range}) as ranges
    order by ${key} desc ${limit === null ? noSql : sql`limit ${limit}`}`;
}

/** Ids from the first up to, and without, the second. */
export type IdRange = { from: string; before: string };

/** The ids that a list can have by what it is asked for: those made in a period, behind a cursor. */
export function idsOf(
  prefix: IdPrefix,
  filter: {
    createdFrom?: Date | undefined;
    createdTo?: Date | undefined;
    startingAfter?: string | undefined;
  },
): IdRange {
  const { createdFrom, createdTo, startingAfter } = filter;
  const befores = [`${prefix}_~`];
  if (createdTo !== undefined) befores.push(idFloor(prefix, later(createdTo, 1)));
  if (startingAfter !== undefined) befores.push(startingAfter);
  return {
    from: createdFrom === undefined ? `${prefix}_` : idFloor(prefix, createdFrom),
    before: befores.reduce((a, b) => (a < b ? a : b)),
  };
}

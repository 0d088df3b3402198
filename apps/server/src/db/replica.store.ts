import type { Queryable } from "./db.ts";
import { sql } from "./sql.ts";

/** How far the primary is in the write-ahead log, and in which of its histories: a promotion begins a new one (a timeline). */
export type Position = { lsn: string; timeline: number };

/**
 * A position that everything has which was committed before: a commit is acknowledged when its record has been flushed, or, where the server does not wait for that, when it
 * is in the log.
 */
export async function readPosition(primary: Queryable): Promise<Position> {
  const row = await primary.one<{ lsn: string; file: string }>(sql`
    select lsn::text as lsn, pg_walfile_name(lsn) as file from (
      select case current_setting('synchronous_commit')
        when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as lsn
    ) as position`);
  // The name of a file of the log begins with the timeline.
  return { lsn: row.lsn, timeline: Number.parseInt(row.file.slice(0, 8), 16) };
}

export type Standing = {
  /** It follows, in the history of the primary, and has applied everything up to the position. */
  reached: boolean;
  /** The same without the last: it may get there. */
  follows: boolean;
  bytes_behind: number;
};

/**
 * How a replica stands to a position of the primary. What the replica shows from now on contains all that was committed before the position was read.
 *
 * The position in the log alone would not do: after a failover, a replica that did not follow the new primary may have a higher one in a history that is no more. The
 * control file tells the timeline of the last checkpoint that was applied, so a replica counts again some minutes after a promotion.
 */
export function readStanding(replica: Queryable, { lsn, timeline }: Position): Promise<Standing> {
  return replica.one<Standing>(sql`
    select follows, follows and behind <= 0 as reached, greatest(behind, 0)::float8 as bytes_behind
    from (
      select pg_is_in_recovery() and timeline_id = ${timeline}::integer as follows,
        coalesce(pg_wal_lsn_diff(${lsn}::pg_lsn, pg_last_wal_replay_lsn()), 1) as behind
      from pg_control_checkpoint()
    ) as standing`);
}

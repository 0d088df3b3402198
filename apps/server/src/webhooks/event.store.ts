import type { EventType } from "@assay/contract/events";
import type { Queryable, Tx } from "../db/db.ts";
import { noSql, sql } from "../db/sql.ts";
import { readPage } from "../http/page.ts";
import { later } from "../lib/clock.ts";
import { idFloor } from "../lib/ids.ts";

export type EventRow = {
  id: string;
  organization_id: string;
  type: EventType;
  session_id: string | null;
  sandbox: boolean;
  contract_version: number | null;
  client_reference_id: string | null;
  created_at: Date;
};

const columns = sql`id, organization_id, type, session_id, sandbox, contract_version, client_reference_id, created_at`;

export async function insertEvents(
  tx: Tx,
  events: readonly Omit<EventRow, "created_at">[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into events (id, organization_id, type, session_id, sandbox, contract_version, client_reference_id, created_at)
    select *, ${now}::timestamptz from unnest(
      ${events.map((event) => event.id)}::text[],
      ${events.map((event) => event.organization_id)}::uuid[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.session_id)}::text[],
      ${events.map((event) => event.sandbox)}::boolean[],
      ${events.map((event) => event.contract_version)}::integer[],
      ${events.map((event) => event.client_reference_id)}::text[])`);
}

export function findEvent(db: Queryable, organizationId: string, id: string): Promise<EventRow | null> {
  return db.first<EventRow>(
    sql`select ${columns} from events where organization_id = ${organizationId} and id = ${id}`,
  );
}

export function listEvents<T>(
  db: Queryable,
  organizationId: string,
  filter: {
    type: EventType | undefined;
    sessionId: string | undefined;
    createdFrom: Date | undefined;
    createdTo: Date | undefined;
    limit: number;
    startingAfter: string | undefined;
  },
  view: (row: EventRow) => T,
) {
  return readPage<EventRow, T>(
    db,
    {
      limit: filter.limit,
      startingAfter: filter.startingAfter,
      cursorExists: (id) =>
        sql`select 1 from events where organization_id = ${organizationId} and id = ${id}`,
      // Ids begin with their creation time, so a range of times is a range of the index that the list is read by.
      rowsAfter: (limit) => sql`
        select ${columns} from events
        where organization_id = ${organizationId}
          ${filter.type === undefined ? noSql : sql`and type = ${filter.type}`}
          ${filter.sessionId === undefined ? noSql : sql`and session_id = ${filter.sessionId}`}
          ${filter.createdFrom === undefined ? noSql : sql`and id >= ${idFloor("evt", filter.createdFrom)}`}
          ${filter.createdTo === undefined ? noSql : sql`and id < ${idFloor("evt", later(filter.createdTo, 1))}`}
          ${filter.startingAfter === undefined ? noSql : sql`and id < ${filter.startingAfter}`}
        order by id desc limit ${limit}`,
    },
    view,
  );
}

/** Removes a batch of events from before `cutoff`; returns how many. */
export function purgeEvents(db: Queryable, cutoff: Date, limit: number): Promise<number> {
  return db.run(sql`
    delete from events where id in (
      select id from events where id < ${idFloor("evt", cutoff)} order by id limit ${limit} for update skip locked)`);
}

import { type AuditEvent, auditEvents } from "@assay/contract/audit";
import type { Environment } from "@assay/contract/facts";
import type { ApiKeyId, AuditLogId, OrganizationId, UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../db/db.ts";
import { byIdPrefix, newestOf, newestOfEach, readPage } from "../db/page.ts";
import type { Among } from "../db/quarantine.ts";
import { noSql, type Sql, sql } from "../db/sql.ts";
import { type Caller, isSandbox, type KeyCaller, type MemberCaller } from "../kernel/caller.ts";
import { later } from "../kernel/clock.ts";
import { newUuid, uuidFloor } from "../kernel/ids.ts";

const firstUuid = "00000000-0000-0000-0000-000000000000";

export type Actor =
  | { kind: "user"; id: UserId }
  | { kind: "key"; id: ApiKeyId }
  | { kind: "person"; id: null }
  | { kind: "system"; id: null };

export const systemActor: Actor = { kind: "system", id: null };
/** The person being verified: acts on their own session and has no account. */
export const personActor: Actor = { kind: "person", id: null };

export function actorOf(caller: Caller): Actor {
  return caller.kind === "key" ? { kind: "key", id: caller.keyId } : { kind: "user", id: caller.userId };
}

export type AuditEntry = {
  organizationId: OrganizationId;
  /** The environment of the changed object; null if the environments share it. */
  environment: Environment | null;
  event: AuditEvent;
  actor: Actor;
  targetId?: string;
  /** Names and settings, never a secret, a claim or a body. */
  details?: Record<string, unknown>;
};

/** Writes the entry in the transaction of the change that it reports. */
export async function recordAudit(tx: Tx, now: Date, entry: AuditEntry): Promise<void> {
  tx.write(sql`
    insert into audit_logs (id, organization_id, sandbox, event, actor_kind, actor_id, target_id, details, created_at)
    values (${newUuid(now)}, ${entry.organizationId}, ${sandboxOf(entry)}, ${entry.event}, ${entry.actor.kind}, ${entry.actor.id},
      ${entry.targetId ?? null}, ${JSON.stringify(entry.details ?? {})}, ${now})`);
}

function sandboxOf({ environment }: AuditEntry): boolean | null {
  return environment === null ? null : isSandbox({ environment });
}

type Act = Pick<AuditEntry, "event" | "targetId" | "details"> & {
  /** If it is not the environment of the caller. */
  environment?: Environment;
};

/** The same for an action of a caller in their organization. */
export function recordAct(tx: Tx, now: Date, caller: MemberCaller | KeyCaller, act: Act): Promise<void> {
  return recordAudit(tx, now, actEntry(caller, act));
}

/** The entry for an action of a caller in their organization. */
export function actEntry(caller: MemberCaller | KeyCaller, act: Act): AuditEntry {
  const environment = "environment" in caller ? caller.environment : null;
  return { organizationId: caller.organizationId, environment, actor: actorOf(caller), ...act };
}

/** A statement that writes entries, as part of another one: thousands of sessions may expire together. */
export function insertAudits(now: Date, entries: readonly AuditEntry[]): Sql {
  return sql`
    insert into audit_logs (id, organization_id, sandbox, event, actor_kind, actor_id, target_id, details, created_at)
    select *, ${now}::timestamptz from unnest(
      ${entries.map(() => newUuid(now))}::uuid[],
      ${entries.map((entry) => entry.organizationId)}::uuid[],
      ${entries.map(sandboxOf)}::boolean[],
      ${entries.map((entry) => entry.event)}::text[],
      ${entries.map((entry) => entry.actor.kind)}::text[],
      ${entries.map((entry) => entry.actor.id)}::text[],
      ${entries.map((entry) => entry.targetId ?? null)}::text[],
      ${entries.map((entry) => JSON.stringify(entry.details ?? {}))}::jsonb[])`;
}

export type AuditRow = {
  id: AuditLogId;
  event: AuditEvent;
  actorKind: Actor["kind"];
  actorId: string | null;
  targetId: string | null;
  details: Record<string, unknown>;
  sandbox: boolean | null;
  createdAt: Date;
};

type AuditFilter = {
  event?: AuditEvent | undefined;
  actorId?: string | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
  startingAfter?: AuditLogId | undefined;
};

export function listAuditLogs(
  db: Queryable,
  organizationId: OrganizationId,
  filter: AuditFilter & { limit: number },
) {
  return readPage<AuditRow>(db, {
    limit: filter.limit,
    startingAfter: filter.startingAfter,
    cursorExists: (id) =>
      sql`select 1 from audit_logs where organization_id = ${organizationId} and id = ${id}`,
    rowsAfter: (limit) => auditPage(organizationId, filter, limit),
  });
}

/**
 * The prefix of the id, as the key of the index to use for a list. Its collation selects the index; the
 * migration of the sessions explains why.
 */
const idBy = {
  organization: sql`left(id::text, 18) collate by_organization`,
  event: sql`left(id::text, 18) collate by_event`,
  actorEvent: sql`left(id::text, 18) collate by_actor_event`,
};

/** The part of an id in the indexes. A longer bound would sort after the first id that it should include. */
const idPrefixOf = (id: string) => id.slice(0, 18);

export function auditPage(organizationId: OrganizationId, filter: AuditFilter, limit: number): Sql {
  const { event, actorId, createdFrom, createdTo, startingAfter } = filter;
  const key =
    actorId === undefined ? (event === undefined ? idBy.organization : idBy.event) : idBy.actorEvent;
  // Ids begin with their creation time, so a time range is a range of the index. A caller may write a cursor
  // in capitals, which is the same id but another text.
  const within = sql`
    ${createdFrom === undefined ? noSql : sql`and ${key} >= ${idPrefixOf(uuidFloor(createdFrom))}`}
    ${createdTo === undefined ? noSql : sql`and ${key} < ${idPrefixOf(uuidFloor(later(createdTo, 1)))}`}
    ${startingAfter === undefined ? noSql : sql`and ${key} < ${startingAfter.toLowerCase()} and id < ${startingAfter}`}`;
  const range = (of: Sql) => sql`
    select id, event, actor_kind, actor_id, target_id, details, sandbox, created_at from audit_logs
    where organization_id = ${organizationId} ${of}
      ${actorId === undefined ? noSql : sql`and actor_id = ${actorId}`} ${within}
    ${byIdPrefix(key, limit)}`;
  if (event === undefined && actorId !== undefined)
    return newestOfEach(
      sql`of_event`,
      auditEvents.map((each) => sql`${each}::text`),
      range(sql`and event = each.of_event`),
      sql`id`,
      limit,
    );
  return newestOf([range(event === undefined ? noSql : sql`and event = ${event}`)], sql`id`, limit);
}

/**
 * The next entries from before `writtenBefore`, in the order of their ids, which is the order of their age.
 */
export function takeOldAuditLogs(
  db: Queryable,
  writtenBefore: Date,
  among: Among,
): Promise<{ id: AuditLogId; organizationId: OrganizationId }[]> {
  return db.rows<{ id: AuditLogId; organizationId: OrganizationId }>(sql`
    select id, organization_id from audit_logs
    where id > ${among.after === "" ? firstUuid : among.after} and id < ${uuidFloor(writtenBefore)}
      and ${among.where(sql`id`, "uuid")}
    order by id limit ${among.limit} ${among.lock}`);
}

export async function deleteAuditLogs(tx: Tx, ids: readonly AuditLogId[]): Promise<void> {
  await tx.run(sql`delete from audit_logs where id = any(${ids}::uuid[])`);
}

/** The number of entries that are due for deletion, counted up to `cap`. */
export async function countOldAuditLogs(db: Queryable, writtenBefore: Date, cap: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count from (
      select from audit_logs where id < ${uuidFloor(writtenBefore)} order by id limit ${cap}) as old`);
  return count;
}

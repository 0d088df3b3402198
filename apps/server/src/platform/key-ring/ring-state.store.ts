import type { Db, Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { later } from "../kernel/clock.ts";
import {
  forgottenAfterMs,
  type KeyState,
  type KnownKey,
  type OwnProcess,
  type RingProcess,
} from "./ring-state.ts";

/** NOTIFY channel: the agreed state of keys has changed. */
export const ringChannel = "assay_key_ring";

// The same number as in `key_may_store` in the migrations.
const storingLock = 7_205_114_302;

/** Serializes changes of the agreed key state; reads and writes of data continue. */
export function changeRing<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.run(sql`lock table key_ring_keys in share row exclusive mode`);
    return work(tx);
  });
}

const knownKeys = sql`
  select id, fingerprint, state, generation from key_ring_keys order by generation desc nulls first, id`;

export function listKnownKeys(db: Queryable): Promise<KnownKey[]> {
  return db.rows<KnownKey>(knownKeys);
}

export async function saveKnownKey(tx: Tx, key: KnownKey, now: Date): Promise<void> {
  const usedFrom = key.state === "in_use" ? now : null;
  await tx.run(sql`
    insert into key_ring_keys (id, fingerprint, state, generation, introduced_at, used_from)
    values (${key.id}, ${key.fingerprint}, ${key.state}, ${key.generation}, ${now}, ${usedFrom})
    on conflict (id) do update set fingerprint = excluded.fingerprint, state = excluded.state,
      generation = excluded.generation, used_from = coalesce(key_ring_keys.used_from, excluded.used_from)`);
  tx.notify(ringChannel, "");
}

/**
 * Takes a key out of use while no transaction stores data: earlier ones have ended, and the database rejects
 * later ones. Fails if a transaction takes longer than the limit, because others wait meanwhile.
 */
export function fenceKey(db: Db, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.run(sql`select set_config('lock_timeout', '2s', true)`);
    await tx.run(sql`select pg_advisory_xact_lock(${storingLock})`);
    await tx.run(sql`update key_ring_keys set state = 'retiring' where id = ${id} and state = 'in_use'`);
    tx.notify(ringChannel, "");
  });
}

export async function setKeyState(
  db: Queryable,
  id: string,
  from: KeyState,
  to: KeyState,
  now: Date,
): Promise<void> {
  await db.run(sql`
    update key_ring_keys set state = ${to}, retired_at = ${to === "retired" ? now : null}
    where id = ${id} and state = ${from}`);
  db.notify(ringChannel, "");
}

export function listProcesses(db: Queryable): Promise<RingProcess[]> {
  return db.rows<RingProcess>(
    sql`select id, name, loaded, seals_with, seen_at from key_ring_processes order by name`,
  );
}

const processWritten = ({ self, report, ...process }: OwnProcess) => sql`
  insert into key_ring_processes
    (id, name, loaded, seals_with, seen_at, role, version, code_version, started_at, report)
  values (${process.id}, ${process.name}, ${process.loaded}, ${process.sealsWith}, ${process.seenAt}, ${self.role},
    ${self.version}, ${self.codeVersion}, ${self.startedAt}, ${report === null ? null : JSON.stringify(report)}::jsonb)
  on conflict (id) do update set loaded = excluded.loaded, seals_with = excluded.seals_with,
    seen_at = excluded.seen_at, report = excluded.report`;

export async function saveProcess(db: Queryable, process: OwnProcess): Promise<void> {
  await db.run(processWritten(process));
}

/** The same, and the agreed state of the keys, in one statement: it runs every few seconds. */
export function reportProcess(db: Queryable, process: OwnProcess): Promise<KnownKey[]> {
  return db.rows<KnownKey>(sql`with reported as (${processWritten(process)}) ${knownKeys}`);
}

export async function deleteProcess(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from key_ring_processes where id = ${id}`);
}

/** Deletes the rows of processes that ended without a report, long after they stopped counting as live. */
export async function forgetGoneProcesses(db: Queryable, now: Date): Promise<void> {
  await db.run(sql`delete from key_ring_processes where seen_at < ${later(now, -forgottenAfterMs)}`);
}

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Db, Queryable } from "../db/db.ts";
import type { Clock } from "../kernel/clock.ts";
import { hasCode } from "../lib/error-code.ts";
import { ExplainedError } from "../lib/explained-error.ts";
import { formatRing, type KeyRing, loadedKey } from "../lib/key-ring.ts";
import { describeError, type Log } from "../lib/log.ts";
import {
  changeRing,
  deleteProcess,
  forgetGoneProcesses,
  listKnownKeys,
  listProcesses,
  reportProcess,
  saveKnownKey,
  saveProcess,
} from "./ring-state.store.ts";
import {
  admitKeys,
  isLive,
  type KnownKey,
  markOf,
  mismatches,
  type OwnProcess,
  type ProcessSelf,
  type RingProcess,
  sealingKey,
} from "./ring-state.ts";
import { findUnreadable } from "./sealed-columns.store.ts";

/** Names keys by id, never by value. */
function ringMismatch(problems: readonly string[]): ExplainedError {
  return new ExplainedError(
    [
      "The key ring does not match the database:",
      ...problems.map((problem) => `  - ${problem}`),
      "Start with the ring that the other processes have (SECRET_KEYS, or DATA_DIR/secret-keys), or add the missing key to it.",
    ].join("\n"),
  );
}

/**
 * Reconciles a ring with the keys in the database: introduces new keys, and puts a key into use that every
 * live process has. A ring that does not match is refused without a change. `self` is written under the same
 * lock, so that no key comes into use between reading the other processes and registering this one.
 */
export async function reconcileRing(
  db: Db,
  ring: KeyRing,
  now: Date,
  self: OwnProcess | null,
): Promise<KnownKey[]> {
  const loaded = ring.keys.map(loadedKey);
  return changeRing(db, async (tx) => {
    const known = await listKnownKeys(tx);
    if (known.length === 0) {
      const unreadable = await findUnreadable(tx, ring);
      if (unreadable.length > 0) throw ringMismatch(unreadable);
    }
    const others = (await listProcesses(tx)).filter(
      (process) => process.id !== self?.id && isLive(process, now),
    );
    const next = admitKeys(known, loaded, others);
    const problems = mismatches(loaded, next);
    if (problems.length > 0) throw ringMismatch(problems);
    for (const key of next) {
      const before = known.find(({ id }) => id === key.id);
      if (JSON.stringify(before) !== JSON.stringify(key)) await saveKnownKey(tx, key, now);
    }
    if (self !== null) await saveProcess(tx, self);
    return next;
  });
}

/** Live processes, as they last reported. */
export async function listLiveProcesses(db: Queryable, now: Date): Promise<RingProcess[]> {
  return (await listProcesses(db)).filter((process) => isLive(process, now));
}

type Deps = {
  db: Db;
  ring: KeyRing;
  clock: Clock;
  log: Log;
  self: ProcessSelf;
  /** The state of this process, for its report. */
  report: () => unknown;
};

/** This process among those that share the database and the ring. Only it writes the row of this process. */
export class RingMember {
  readonly #deps: Deps;
  readonly #id = randomUUID();
  #reported = "";
  #problem: string | null = null;
  #isShortOfFiles = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Why this process should get no requests, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  async join(): Promise<void> {
    const { db, ring, clock } = this.#deps;
    const now = clock.now();
    // Registered before the sealing key is read: from here on no key comes into use or is retired without
    // this process.
    this.#use(await reconcileRing(db, ring, now, this.#self(now)));
    await this.#report(now);
    await forgetGoneProcesses(db, now);
  }

  /**
   * Reports this process, and reads the source of the ring and the agreed state of the keys again. Reports
   * what changed.
   */
  async refresh(): Promise<void> {
    const { db, ring, clock } = this.#deps;
    const now = clock.now();
    const known = await this.#report(now);
    const problems = this.#readAgain(known);
    // Before anything else is sealed: other processes may lack the first key of a reloaded ring.
    this.#use(known);
    problems.push(...mismatches(ring.keys.map(loadedKey), known));
    this.#note(problems);
    if (problems.length === 0 && this.#hasUnknownKeys(known))
      this.#use(await reconcileRing(db, ring, now, this.#self(now)));
    if (this.#stateOfRing !== this.#reported) await this.#report(now);
  }

  /**
   * Reports the end of the process, after its last use of the ring. Without a database, the others notice
   * after a while.
   */
  async leave(): Promise<void> {
    const { db, log } = this.#deps;
    await deleteProcess(db, this.#id).catch((error) =>
      log.warn("the end of this process could not be reported to the others", describeError(error)),
    );
  }

  #self(now: Date): OwnProcess {
    const { ring, self, report } = this.#deps;
    return {
      self,
      report: report(),
      id: this.#id,
      name: `process ${process.pid} on ${hostname()}`,
      loaded: ring.keys.map((key) => markOf(loadedKey(key))),
      sealsWith: ring.currentId,
      seenAt: now,
    };
  }

  /**
   * Adopts a changed ring if it matches. A broken or shortened one is reported, and the ring in memory stays
   * in use.
   */
  #readAgain(known: readonly KnownKey[]): string[] {
    const { ring, log } = this.#deps;
    try {
      const keys = ring.readAgain();
      this.#isShortOfFiles = false;
      if (formatRing(keys) === formatRing(ring.keys)) return [];
      const problems = mismatches(keys.map(loadedKey), known);
      if (problems.length === 0) ring.replace(keys);
      return problems;
    } catch (error) {
      // Without a free file descriptor the file is unknown, so the ring in memory is still valid.
      if (!hasCode(error, "EMFILE", "ENFILE"))
        return [`The key ring cannot be reloaded: ${(error as Error).message}.`];
      if (!this.#isShortOfFiles)
        log.warn("the key ring could not be reloaded: too many files are open", describeError(error));
      this.#isShortOfFiles = true;
      return [];
    }
  }

  /** Whether the ring has an unknown key, or begins with one that is not in use yet. */
  #hasUnknownKeys(known: readonly KnownKey[]): boolean {
    return this.#deps.ring.keys.some((key, place) => {
      const state = known.find(({ id }) => id === key.id)?.state;
      return state === undefined || (place === 0 && state === "introduced");
    });
  }

  #use(known: readonly KnownKey[]): void {
    const { ring, log } = this.#deps;
    const next = sealingKey(known);
    if (next === null || !ring.keys.some(({ id }) => id === next.id)) return;
    if (next.id !== ring.currentId) log.info("another key of the ring is now in use", { key: next.id });
    ring.sealWith(next.id);
  }

  #note(problems: readonly string[]): void {
    const problem = problems.length === 0 ? null : problems.join(" ");
    if (problem !== null && problem !== this.#problem)
      this.#deps.log.error("there is a problem with the key ring", { problem });
    this.#problem = problem;
  }

  async #report(now: Date): Promise<KnownKey[]> {
    const state = this.#stateOfRing;
    const known = await reportProcess(this.#deps.db, this.#self(now));
    this.#reported = state;
    return known;
  }

  /** What others must know before a key comes into use or is retired. */
  get #stateOfRing(): string {
    const { ring } = this.#deps;
    return [ring.currentId, ...ring.keys.map((key) => markOf(loadedKey(key)))].join();
  }
}

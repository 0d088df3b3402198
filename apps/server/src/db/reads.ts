import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { describeError, type Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { sqlState } from "../lib/sql-state.ts";
import { type Db, isUnavailable, type Queryable } from "./db.ts";
import { type Position, readPosition, readStanding } from "./replica.store.ts";

// How long a read waits for a replica that is a little behind. Half of it sends reads of a busy primary to the primary, whose last writes are a few
// milliseconds on their way; twice as much is felt whenever the replica is slow.
const patienceMs = 40;
const pauseMs = 4;
// A replica this far behind is not asked at all. At half of it, a single large write turns reads away; at twice as much, each of them waits in vain for longer.
const mostLagMs = 1_000;

/**
 * Reads that may be answered by a replica, without anybody being able to tell. Each request asks the primary how far its log is, and reads from the replica only once that
 * has applied as much. Everything that was acknowledged before the request came, by whichever process and to whomever, is committed before that position, so it is seen.
 * In every other case (behind, away, promoted, in doubt) the primary answers.
 */
export class Reads {
  readonly #primary: Db;
  readonly #replica: Db | null;
  readonly #statementMs: number;
  readonly #log: Log;
  #isUsable = false;
  /** What the primary told, and when, of which the replica has not applied all. The oldest says how far it is behind. */
  #unapplied: { position: Position; at: number }[] = [];
  #bytesBehind: number | null = null;
  readonly #counts = { primary: 0, replica: 0 };
  #asking: Promise<unknown> = Promise.resolve();
  #next: Promise<Position> | null = null;

  /** `statementMs`: the limit for one statement on the replica. */
  constructor(options: { primary: Db; replica: Db | null; statementMs: number; log: Log; metrics: Metrics }) {
    this.#primary = options.primary;
    this.#replica = options.replica;
    this.#statementMs = options.statementMs;
    this.#log = options.log;
    this.#show(options.metrics);
  }

  /** `work` only reads, and may be called a second time where the replica fails in the middle. */
  async read<T>(work: (db: Queryable) => Promise<T>): Promise<T> {
    const answer = await this.#fromReplica(work);
    this.#counts[answer === null ? "primary" : "replica"]++;
    return answer === null ? work(this.#primary) : answer.value;
  }

  async #fromReplica<T>(work: (db: Queryable) => Promise<T>): Promise<{ value: T } | null> {
    const replica = this.#replica;
    // What a transaction has written is seen by its own connection alone.
    if (replica === null || !this.#isUsable || this.#primary.isJoined) return null;
    // Where the primary does not tell, it is asked for the answer itself, and what is wrong with it comes to light.
    const position = await this.#position().catch(() => null);
    if (position === null) return null;
    try {
      // One transaction, since through a pooler two statements may reach two replicas.
      return await replica.unhurried(this.#statementMs, () =>
        replica.transaction(async (tx) =>
          (await hasCaughtUp(tx, position)) ? { value: await work(tx) } : null,
        ),
      );
    } catch (error) {
      if (!isAboutReplica(error)) throw error;
      if (isUnavailable(error)) this.#giveUp(error);
      return null;
    }
  }

  /**
   * Where the primary is, after now. Requests that come at once share a statement that has not been sent yet; one that is on its way may have been answered before a write that
   * has been acknowledged since.
   */
  #position(): Promise<Position> {
    if (this.#next === null) {
      const next = this.#asking.then(() => {
        this.#next = null;
        return readPosition(this.#primary);
      });
      this.#next = next;
      this.#asking = next.catch(() => {});
    }
    return this.#next;
  }

  #giveUp(error: unknown): void {
    if (this.#isUsable)
      this.#log.warn("the replica cannot be read, the primary answers", describeError(error));
    this.#isUsable = false;
    this.#bytesBehind = null;
  }

  /** Looks how the replica is, every second or so. Only what is found here brings it back into use. */
  async watch(): Promise<void> {
    const replica = this.#replica;
    if (replica === null) return;
    try {
      const position = await readPosition(this.#primary);
      this.#unapplied.push({ position, at: performance.now() });
      // An hour of them; beyond it the first still tells the truth, and the rest is as good with gaps.
      if (this.#unapplied.length > 3600) this.#unapplied = this.#unapplied.filter((_, at) => at % 2 === 0);
      const follows = await replica.transaction(async (tx) => {
        const standing = await readStanding(tx, position);
        this.#bytesBehind = standing.bytes_behind;
        if (standing.reached) this.#unapplied = [];
        while (this.#unapplied[0] !== undefined) {
          if (!(await readStanding(tx, this.#unapplied[0].position)).reached) break;
          this.#unapplied.shift();
        }
        return standing.follows;
      });
      const isUsable = follows && this.#lagMs() <= mostLagMs;
      if (isUsable !== this.#isUsable)
        this.#log.info(
          isUsable
            ? "the replica answers lists, figures and search"
            : "the replica is behind, or does not follow this primary; the primary answers",
        );
      this.#isUsable = isUsable;
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #lagMs(): number {
    const oldest = this.#unapplied[0];
    return oldest === undefined ? 0 : performance.now() - oldest.at;
  }

  #show(metrics: Metrics): void {
    metrics.countersOf(
      "assay_db_reads_total",
      "Lists, figures and searches that a replica may answer, by who did.",
      "target",
      () => (this.#replica === null ? {} : this.#counts),
    );
    metrics.gaugeOf(
      "assay_db_replica_usable",
      "1 while reads go to the replica, 0 while the primary answers because it is behind, away or not its replica.",
      () => (this.#replica === null ? null : this.#isUsable ? 1 : 0),
    );
    metrics.gaugeOf(
      "assay_db_replica_lag_seconds",
      "How long ago the primary was where the replica is now.",
      () => (this.#replica === null ? null : this.#lagMs() / 1000),
    );
    metrics.gaugeOf(
      "assay_db_replica_lag_bytes",
      "Bytes of the write-ahead log that the replica has not applied; not known while it does not answer.",
      () => this.#bytesBehind,
    );
  }

  async close(): Promise<void> {
    await this.#replica?.close();
  }
}

async function hasCaughtUp(replica: Queryable, position: Position): Promise<boolean> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const { reached, follows } = await readStanding(replica, position);
    if (reached) return true;
    if (!follows || performance.now() >= giveUpAt) return false;
    await wait(pauseMs);
  }
}

/**
 * Whether the primary may do better: a replica that is away, or that ended the statement because it stood in the way of what was to be applied. A statement that took too long
 * would take as long there, and one that writes is a fault of ours.
 */
function isAboutReplica(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  if (state === "25006" || state === "57014") return false;
  return error instanceof pg.DatabaseError || isUnavailable(error);
}

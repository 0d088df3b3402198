import type { ApiKeyId } from "@assay/contract/ids";
import type { Db } from "../db/db.ts";
import type { Clock } from "../kernel/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import { addUsage } from "./api-key.store.ts";

/**
 * Counts requests in memory and adds them to the table in batches, so that a busy key is not a hot row. What a
 * failed flush could not write stays for the next one, and an orderly end writes all; a process that is killed loses the counts since
 * its last flush, a second's worth. To be exact, every request that only reads would have to write.
 */
export class KeyUsage {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  #pending = new Map<ApiKeyId, { requests: number; lastUsedAt: Date }>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(db: Db, clock: Clock, log: Log) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  count(keyId: ApiKeyId): void {
    const entry = this.#pending.get(keyId);
    const now = this.#clock.now();
    if (entry === undefined) this.#pending.set(keyId, { requests: 1, lastUsedAt: now });
    else {
      entry.requests += 1;
      entry.lastUsedAt = now;
    }
  }

  /** Resolves when everything counted before the call is in the table (or a failure was logged and it waits again). */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return;
    const batch = this.#pending;
    this.#pending = new Map();
    try {
      await addUsage(
        this.#db,
        [...batch].map(([id, entry]) => ({ id, ...entry })),
      );
    } catch (error) {
      this.#log.warn("request counts could not be written, will try again", describeError(error));
      for (const [id, entry] of batch) {
        const newer = this.#pending.get(id);
        if (newer === undefined) this.#pending.set(id, entry);
        else newer.requests += entry.requests;
      }
    }
  }
}

import type { ApiKeyId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Db } from "../../platform/db/db.ts";
import { isolateFailures } from "../../platform/db/isolate-failures.ts";
import type { JobRows } from "../../platform/db/quarantine.ts";
import type { Clock } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { describeError, type Log } from "../../platform/lib/log.ts";
import { addUsage } from "./api-key.store.ts";

type Usage = { requests: number; lastUsedAt: Date };

function add(to: Map<ApiKeyId, Usage>, keyId: ApiKeyId, more: Usage): void {
  const known = to.get(keyId);
  if (known === undefined) to.set(keyId, { ...more });
  else {
    known.requests += more.requests;
    if (more.lastUsedAt > known.lastUsedAt) known.lastUsedAt = more.lastUsedAt;
  }
}

/**
 * Counts requests in memory and adds them to the table in batches, so that a busy key is not a hot row. A
 * failed flush is repeated, and a shutdown writes everything. A killed process loses the counts of about a
 * second. Exact counts would need a write for every read request.
 */
export class KeyUsage {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #rows: JobRows;
  #pending = new Map<ApiKeyId, Usage>();
  /** Counts of keys whose row is quarantined. */
  #quarantined = new Map<ApiKeyId, Usage>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(
    { db, clock, log, quarantine }: Pick<Core, "db" | "clock" | "log" | "quarantine">,
    job: string,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#rows = quarantine.rowsOf(job, "api_keys");
  }

  count(keyId: ApiKeyId): void {
    add(this.#pending, keyId, { requests: 1, lastUsedAt: this.#clock.now() });
  }

  /** Checks whether quarantined key rows can be written again, whichever process quarantined them. */
  async retry(): Promise<void> {
    await this.#rows.retry((id) => addUsage(this.#db, [{ id: knownId(id), requests: 0, lastUsedAt: null }]));
  }

  /**
   * Resolves when everything counted before the call is in the table (or a failure was logged and it waits
   * again).
   */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0 && this.#quarantined.size === 0) return;
    const batch = this.#pending;
    this.#pending = new Map();
    try {
      await this.#separateQuarantined(batch);
      await isolateFailures(
        [...batch].map(([id, usage]) => ({ id, ...usage })),
        {
          process: async (some) => {
            await addUsage(this.#db, some);
            for (const { id } of some) batch.delete(id);
          },
          quarantine: async ({ id, ...usage }, error) => {
            await this.#rows.quarantine({ id }, error);
            add(this.#quarantined, id, usage);
            batch.delete(id);
          },
        },
      );
    } catch (error) {
      this.#log.warn("request counts could not be written; the next flush will retry", describeError(error));
      for (const [id, usage] of batch) add(this.#pending, id, usage);
    }
  }

  /** Moves the counts of quarantined keys out of the batch, and adds those that are due for a retry. */
  async #separateQuarantined(batch: Map<ApiKeyId, Usage>): Promise<void> {
    if (this.#quarantined.size === 0) return;
    const waiting = new Set<string>(await this.#rows.waiting([...this.#quarantined.keys()]));
    for (const [id, usage] of [...this.#quarantined]) {
      if (waiting.has(id)) {
        const more = batch.get(id);
        if (more !== undefined) add(this.#quarantined, id, more);
        batch.delete(id);
      } else {
        add(batch, id, usage);
        this.#quarantined.delete(id);
      }
    }
  }
}

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
    const counted = this.#pending;
    if (counted.size === 0) return;
    this.#pending = new Map();
    try {
      const waiting = (await this.#rows.hasAny()) ? await this.#rows.waiting([...counted.keys()]) : [];
      const due = [...counted]
        .filter(([id]) => !waiting.includes(id))
        .map(([id, usage]) => ({ id, ...usage }));
      await isolateFailures(due, {
        process: async (some) => {
          await addUsage(this.#db, some);
          for (const { id } of some) counted.delete(id);
        },
        quarantine: ({ id }, error) => this.#rows.quarantine({ id }, error),
      });
    } catch (error) {
      this.#log.warn("request counts could not be written; the next flush will retry", describeError(error));
    }
    // What was not written waits, the counts of quarantined keys until these are due.
    for (const [id, usage] of counted) add(this.#pending, id, usage);
  }
}

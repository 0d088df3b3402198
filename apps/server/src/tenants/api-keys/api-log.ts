import type { ApiRequestId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { isUnavailable } from "../../platform/db/errors.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import type { AnsweredRequest } from "../../platform/kernel/request-info.ts";
import { describeError } from "../../platform/lib/log.ts";
import { insertRequests, type LoggedRequest } from "./api-request.store.ts";
import { shownPath } from "./shown-path.ts";

/**
 * Requests in the buffer, 5 MB of them. With fewer, a short outage of the database at full load leaves a gap
 * in the log.
 */
export const maxBuffered = 10_000;

/**
 * Buffers answered requests and writes them in one statement about once a second. No request waits for it:
 * what does not fit is dropped and counted, and a killed process loses what it has not written.
 */
export class ApiLog {
  readonly #core: Pick<Core, "db" | "clock" | "log">;
  readonly #drop: (labels: Record<string, never>, by: number) => void;
  #rows: LoggedRequest[] = [];
  /** One row for each key and code that is currently refused, with a count. */
  #refused = new Map<string, LoggedRequest>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(core: Pick<Core, "db" | "clock" | "log" | "metrics">) {
    this.#core = core;
    const help = "Requests that the API log dropped, because its buffer was full.";
    this.#drop = core.metrics.counter("assay_api_log_dropped_total", help);
    this.#drop({}, 0);
  }

  add({ url, milliseconds, ...answered }: AnsweredRequest): void {
    const same = answered.status === 503 ? `${answered.keyId} ${answered.code}` : null;
    const refused = same === null ? undefined : this.#refused.get(same);
    if (refused !== undefined) {
      refused.requests += 1;
      return;
    }
    if (this.#rows.length >= maxBuffered) {
      this.#drop({}, 1);
      return;
    }
    const createdAt = this.#core.clock.now();
    const id = newUuid<ApiRequestId>(createdAt);
    const durationMs = Math.round(milliseconds);
    const row = { ...answered, id, path: shownPath(url), durationMs, requests: 1, createdAt };
    this.#rows.push(row);
    if (same !== null) this.#refused.set(same, row);
  }

  /** Resolves when everything added before the call is written, or could not be. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const rows = this.#rows;
    if (rows.length === 0) return;
    this.#rows = [];
    this.#refused = new Map();
    try {
      await insertRequests(this.#core.db, rows);
    } catch (error) {
      this.#core.log.warn("requests could not be written to the API log", describeError(error));
      // Any other failure would repeat with the same rows.
      const kept = isUnavailable(error) ? rows.slice(0, maxBuffered - this.#rows.length) : [];
      this.#rows.unshift(...kept);
      this.#drop({}, rows.length - kept.length);
    }
  }
}

import type { EmbeddedPostgresOptions } from "./cluster.ts";

/**
 * When a start reports what it waits for. With half, ordinary starts are logged. With twice, a person who
 * watches a hanging start thinks that it is dead.
 */
const firstWordAfterMs = 2_000;
const wordEveryMs = 10_000;

/** Logs, from time to time, what a start waits for. */
export class Waiting {
  readonly #log: EmbeddedPostgresOptions["log"];
  readonly #since = Date.now();
  #nextWordMs = firstWordAfterMs;

  constructor(log: EmbeddedPostgresOptions["log"]) {
    this.#log = log;
  }

  get milliseconds(): number {
    return Date.now() - this.#since;
  }

  report(what: string): void {
    const waited = this.milliseconds;
    if (waited < this.#nextWordMs) return;
    this.#nextWordMs = waited + wordEveryMs;
    this.#log(`waiting for ${Math.round(waited / 1000)} s: ${what}`, "warn");
  }
}

import type { EmbeddedPostgresOptions } from "./place.ts";

/**
 * A start that waits says what it waits for. Halved, these times put lines about ordinary starts into the log; doubled, a
 * person who watches a start that hangs takes it for dead.
 */
const firstWordAfterMs = 2_000;
const wordEveryMs = 10_000;

/** Logs, once in a while, what a start waits for. */
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

  tell(what: string): void {
    const waited = this.milliseconds;
    if (waited < this.#nextWordMs) return;
    this.#nextWordMs = waited + wordEveryMs;
    this.#log(`waiting for ${Math.round(waited / 1000)} s: ${what}`, "warn");
  }
}

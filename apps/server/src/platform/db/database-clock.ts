import { type Clock, systemClock } from "../kernel/clock.ts";
import type { Queryable } from "./db.ts";
import { sql } from "./sql.ts";

/**
 * A difference beyond this, and beyond the duration of the query, adjusts the clock. With half of it, the
 * clock jumps whenever one direction of a query is slow. With twice, processes disagree by half a second
 * about what is due.
 */
const toleranceMs = 250;

/**
 * The time of the database, as this process last read it. All processes share it, so a wrong machine clock
 * does not expire anything early. Between two reads it advances by the monotonic clock, so it does not jump
 * with the machine's clock.
 */
export class DatabaseClock implements Clock {
  readonly #machine: Clock;
  readonly #elapsedMs: () => number;
  #timeMs: number;
  #atMs: number;

  /** The arguments are for tests. Until the first read, the machine's time is used. */
  constructor(machine: Clock = systemClock, elapsedMs: () => number = () => performance.now()) {
    this.#machine = machine;
    this.#elapsedMs = elapsedMs;
    this.#timeMs = machine.now().getTime();
    this.#atMs = elapsedMs();
  }

  now(): Date {
    return new Date(this.#timeAt(this.#elapsedMs()));
  }

  /** How far the machine's clock is ahead of the database's. */
  get machineAheadMs(): number {
    return this.#machine.now().getTime() - this.#timeAt(this.#elapsedMs());
  }

  async ask(db: Queryable): Promise<void> {
    const before = this.#elapsedMs();
    const { now } = await db.one<{ now: Date }>(sql`select clock_timestamp() as now`);
    const tookMs = this.#elapsedMs() - before;
    const middle = before + tookMs / 2;
    if (Math.abs(now.getTime() - this.#timeAt(middle)) <= toleranceMs + tookMs / 2) return;
    this.#timeMs = now.getTime();
    this.#atMs = middle;
  }

  #timeAt(elapsedMs: number): number {
    return this.#timeMs + elapsedMs - this.#atMs;
  }
}

import { type Clock, systemClock } from "../kernel/clock.ts";
import type { Queryable } from "./db.ts";
import { sql } from "./sql.ts";

/**
 * The database's time is followed when it is further off than this, beyond what its answer took. Half: the clock jumps whenever an answer is slow one way. Twice:
 * processes disagree by half a second about what is due.
 */
const toleranceMs = 250;

/**
 * The time of the database, as far as this process has heard of it. All processes on one database share it, so none of them takes for expired what is not, however
 * wrong the clock of its machine is. Between two answers it goes on by the machine's count of milliseconds, which nobody can set, so it does not jump with the machine's clock.
 */
export class DatabaseClock implements Clock {
  readonly #machine: Clock;
  readonly #elapsedMs: () => number;
  #timeMs: number;
  #atMs: number;

  /** The arguments are for tests. Until the database was asked, the machine's time counts. */
  constructor(machine: Clock = systemClock, elapsedMs: () => number = () => performance.now()) {
    this.#machine = machine;
    this.#elapsedMs = elapsedMs;
    this.#timeMs = machine.now().getTime();
    this.#atMs = elapsedMs();
  }

  now(): Date {
    return new Date(this.#timeAt(this.#elapsedMs()));
  }

  /** How far the machine's clock is ahead. */
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

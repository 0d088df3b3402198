import { type Clock, secondMs } from "../kernel/clock.ts";

/**
 * Counts the requests of each tenant in the current second. Each second starts with an empty map, so its size
 * is bounded. A burst across two seconds may reach twice the limit.
 */
export class RequestRate {
  readonly #maxPerSecond: number;
  readonly #clock: Clock;
  readonly #counts = new Map<string, number>();
  #second = 0;

  constructor(maxPerSecond: number, clock: Clock) {
    this.#maxPerSecond = maxPerSecond;
    this.#clock = clock;
  }

  /** Whether one more request is within the limit. */
  take(tenant: string): boolean {
    const second = Math.floor(this.#clock.now().getTime() / secondMs);
    if (second !== this.#second) this.#counts.clear();
    this.#second = second;
    const count = (this.#counts.get(tenant) ?? 0) + 1;
    this.#counts.set(tenant, count);
    return count <= this.#maxPerSecond;
  }
}

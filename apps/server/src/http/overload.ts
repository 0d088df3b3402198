import { minuteMs, secondMs } from "../kernel/clock.ts";
import type { Log } from "../lib/log.ts";
import type { RefusalReason } from "./slot-queue.ts";

/** Overload is over when nothing was refused for this long. Shorter, one overload is told as many. */
const calmMs = 5 * secondMs;
/** While it lasts, it is told again this often. */
const reminderMs = minuteMs;

/**
 * Whether requests are being refused for want of room, as a state with a beginning and an end. The log tells both and, in
 * between, that it goes on; it does not tell single refusals, of which there may be thousands in a second.
 */
export class Overload {
  readonly #log: Log;
  #since: number | null = null;
  #lastRefusal = 0;
  #lastTold = 0;
  #refused: Record<RefusalReason, number> = { queue_full: 0, waited_too_long: 0, bodies_full: 0 };

  constructor(log: Log) {
    this.#log = log;
  }

  get isOn(): boolean {
    return this.#since !== null;
  }

  refused(reason: RefusalReason, now: number, state: { limit: number; waiting: number }): void {
    this.#lastRefusal = now;
    this.#refused[reason] += 1;
    if (this.#since !== null) return;
    this.#since = now;
    this.#lastTold = now;
    this.#log.warn("overload: more requests come than can be served, some are refused", { reason, ...state });
  }

  /** To be called every few seconds while it is on. */
  look(now: number, state: { limit: number; waiting: number }): void {
    if (this.#since === null) return;
    const seconds = Math.round((now - this.#since) / secondMs);
    if (now - this.#lastRefusal >= calmMs) {
      this.#since = null;
      this.#log.warn("overload is over", { seconds, ...this.#refused });
      this.#refused = { queue_full: 0, waited_too_long: 0, bodies_full: 0 };
    } else if (now - this.#lastTold >= reminderMs) {
      this.#lastTold = now;
      this.#log.warn("overload goes on", { seconds, ...this.#refused, ...state });
    }
  }
}

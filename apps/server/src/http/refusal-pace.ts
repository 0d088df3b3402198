/** So many refusals go out at once between two looks (every 25 ms). Doubled, a flood takes a tenth of what serving needs; halved, small bursts are held, too. */
const atOnce = 10;

/**
 * How long a further one is held. A client that sends again with every answer is slowed down to one request a second on each of its connections;
 * doubled, clients with short limits of their own would give up before they read `Retry-After`; halved, refusing takes a tenth of a processor.
 */
const holdMs = 1000;

/**
 * When a refusal is sent. A caller who sends again as soon as it is refused could otherwise have the service do nothing but refuse:
 * at four times the capacity that took a third of what could have been served. It reads no clock.
 */
export class RefusalPace<T> {
  #given = 0;
  readonly #held: { item: T; due: number }[] = [];

  get held(): number {
    return this.#held.length;
  }

  /** Whether the refusal goes out now; otherwise it is held until `takeDue` gives it. */
  mayGo(item: T, now: number): boolean {
    if (this.#given < atOnce) {
      this.#given += 1;
      return true;
    }
    this.#held.push({ item, due: now + holdMs });
    return false;
  }

  /** Those that have been held for long enough. They count as given, so that what comes meanwhile is held in its turn. */
  takeDue(now: number): T[] {
    const firstLater = this.#held.findIndex(({ due }) => due > now);
    const due = this.#held.splice(0, firstLater === -1 ? this.#held.length : firstLater);
    this.#given = due.length;
    return due.map(({ item }) => item);
  }
}

/** Counts tasks in progress by key, with the same limit for each. An idle key takes no memory. */
export class KeyedSlots<Key> {
  readonly maxOfEach: number;
  readonly #taken = new Map<Key, number>();

  constructor(maxOfEach: number) {
    this.maxOfEach = maxOfEach;
  }

  isFull(key: Key): boolean {
    return this.taken(key) >= this.maxOfEach;
  }

  taken(key: Key): number {
    return this.#taken.get(key) ?? 0;
  }

  /**
   * Takes a slot and returns the function that releases it, which may be called repeatedly; null if none is
   * free.
   */
  take(key: Key): (() => void) | null {
    if (this.isFull(key)) return null;
    this.add(key);
    let held = true;
    return () => {
      if (held) this.remove(key);
      held = false;
    };
  }

  /** Takes one more slot, for a caller that has checked `isFull` and calls `remove` once. */
  add(key: Key): void {
    this.#taken.set(key, this.taken(key) + 1);
  }

  remove(key: Key): void {
    const left = this.taken(key) - 1;
    if (left > 0) this.#taken.set(key, left);
    else this.#taken.delete(key);
  }

  /** Number of keys with tasks in progress. */
  get keys(): number {
    return this.#taken.size;
  }
}

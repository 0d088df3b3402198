/** Counts what is under way by key, with the same limit for each. A key that has nothing under way takes no memory. */
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

  /** A place, as the function that gives it back, which may be called any number of times; null when there is none left. */
  take(key: Key): (() => void) | null {
    if (this.isFull(key)) return null;
    this.add(key);
    let held = true;
    return () => {
      if (held) this.remove(key);
      held = false;
    };
  }

  /** One more, for a caller that has asked `isFull` and removes it once. */
  add(key: Key): void {
    this.#taken.set(key, this.taken(key) + 1);
  }

  remove(key: Key): void {
    const left = this.taken(key) - 1;
    if (left > 0) this.#taken.set(key, left);
    else this.#taken.delete(key);
  }

  /** For how many keys something is under way. */
  get keys(): number {
    return this.#taken.size;
  }
}

/** A small generator of numbers (xorshift128), so that a seed and an index always give the same input. */
export class Dice {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(...seeds: readonly number[]) {
    let state = 0x9e37_79b9;
    const next = () => {
      state = Math.imul(state ^ (state >>> 16), 0x85eb_ca6b);
      state = Math.imul(state ^ (state >>> 13), 0xc2b2_ae35);
      state ^= state >>> 16;
      return state | 1;
    };
    for (const seed of seeds) {
      state = (state ^ seed) | 0;
      next();
    }
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next();
  }

  /** 0 to 2^32 - 1. */
  next(): number {
    let t = this.#a ^ (this.#a << 11);
    this.#a = this.#b;
    this.#b = this.#c;
    this.#c = this.#d;
    t ^= t >>> 8;
    this.#d = this.#d ^ (this.#d >>> 19) ^ t;
    return this.#d >>> 0;
  }

  /** 0 to `below` - 1. */
  below(below: number): number {
    return below <= 0 ? 0 : this.next() % below;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error("nothing to pick from");
    return choice;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let index = 0; index < length; index++) bytes[index] = this.next() & 0xff;
    return bytes;
  }
}

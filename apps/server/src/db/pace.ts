/** How much the latest one says about these days. Halved, a change is noticed late; doubled, one pause of the process counts as slowness. */
const memory = 0.1;

/** How far back the quickest is remembered, at least. Halved, a flood of a minute looks normal; doubled, a database that is farther away than before looks slow for twice as long. */
const windowMs = 60_000;

/** How long something takes of late that is done again and again, by the quickest of the last minute or two. */
export class Pace {
  #lately: number | null = null;
  #windowBegan = 0;
  #least = Number.POSITIVE_INFINITY;
  #leastBefore = Number.POSITIVE_INFINITY;

  /** How many times as long as at best. */
  get slowness(): number {
    const least = Math.min(this.#least, this.#leastBefore);
    return this.#lately === null || this.#lately <= least ? 1 : this.#lately / least;
  }

  note(began: number, ended: number): void {
    const took = ended - began;
    this.#lately = this.#lately === null ? took : this.#lately + (took - this.#lately) * memory;
    if (ended - this.#windowBegan > windowMs) {
      this.#leastBefore = this.#least;
      this.#least = took;
      this.#windowBegan = ended;
    }
    this.#least = Math.min(this.#least, took);
  }
}

/** The caller of waiting work. */
export type Who = {
  readonly sandbox: boolean;
  /** Null if organizations are not distinguished. */
  readonly organization: string | null;
};

/** Work of the service itself, or of an unknown caller. */
export const anyone: Who = { sandbox: false, organization: null };

type Entry<T> = { readonly item: T; readonly who: Who };

/**
 * The number of organizations whose last turn is remembered. With half, a busy organization may count as new
 * too early. With twice, it takes 100 kB more.
 */
const rememberedOrganizations = 1_000;

/**
 * A queue for workers: live work before sandbox work, then the organization served longest ago, then first
 * come, first served. Sandbox work may fill half of the queue. One organization may have at most as many
 * entries as are left free.
 */
export class WaitingLine<T> {
  readonly #capacity: number;
  readonly #entries: Entry<T>[] = [];
  /** The last turn of each organization, as a counter; the lowest comes first. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#entries.length;
  }

  hasCapacity({ sandbox, organization }: Who): boolean {
    const taken = this.#entries.length;
    if (taken >= (sandbox ? Math.ceil(this.#capacity / 2) : this.#capacity)) return false;
    if (organization === null) return true;
    const own = this.#entries.filter(({ who }) => who.organization === organization).length;
    return own < this.#capacity - taken;
  }

  add(item: T, who: Who): void {
    this.#entries.push({ item, who });
  }

  /** Removes the next item, and counts it as served. */
  next(): T | null {
    let next: Entry<T> | null = null;
    for (const entry of this.#entries) if (next === null || this.#isBefore(entry.who, next.who)) next = entry;
    if (next === null) return null;
    this.#entries.splice(this.#entries.indexOf(next), 1);
    this.served(next.who);
    return next.item;
  }

  /** To be called for work that did not have to wait. */
  served({ organization }: Who): void {
    if (organization === null) return;
    this.#turns.delete(organization);
    this.#turns.set(organization, ++this.#turn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > rememberedOrganizations && oldest !== undefined) this.#turns.delete(oldest);
  }

  /** False if it no longer waits. */
  remove(item: T): boolean {
    const index = this.#entries.findIndex((entry) => entry.item === item);
    if (index !== -1) this.#entries.splice(index, 1);
    return index !== -1;
  }

  removeAll(): T[] {
    return this.#entries.splice(0).map(({ item }) => item);
  }

  #isBefore(a: Who, b: Who): boolean {
    if (a.sandbox !== b.sandbox) return b.sandbox;
    const turnOf = ({ organization }: Who) =>
      organization === null ? 0 : (this.#turns.get(organization) ?? 0);
    return turnOf(a) < turnOf(b);
  }
}

/** For whom something waits. */
export type Who = {
  readonly sandbox: boolean;
  /** Null where organizations are not told apart. */
  readonly organization: string | null;
};

/** Work of the service itself, or of a caller that is not told apart. */
export const anyone: Who = { sandbox: false, organization: null };

type Entry<T> = { readonly item: T; readonly who: Who };

/** How many organizations are remembered as served. Half, and one of more than that many that are busy at once counts as new too early; twice, and it takes 100 kB more. */
const rememberedOrganizations = 1_000;

/**
 * What waits for a worker, and what is next: live work before that of the sandbox, then the organization that was served longest ago, then the first come. The sandbox may fill half of the
 * places at most, and one organization as many as it leaves free, so that trying things out, or one tenant, keeps nobody else out.
 */
export class WaitingLine<T> {
  readonly #places: number;
  readonly #entries: Entry<T>[] = [];
  /** When an organization was served last, as a count of turns; the one that was served longest ago comes first. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get length(): number {
    return this.#entries.length;
  }

  hasPlace({ sandbox, organization }: Who): boolean {
    const taken = this.#entries.length;
    if (taken >= (sandbox ? Math.ceil(this.#places / 2) : this.#places)) return false;
    if (organization === null) return true;
    const own = this.#entries.filter(({ who }) => who.organization === organization).length;
    return own < this.#places - taken;
  }

  add(item: T, who: Who): void {
    this.#entries.push({ item, who });
  }

  /** Takes out what is next, and counts it as served. */
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

  /** False when it does not wait any more. */
  remove(item: T): boolean {
    const index = this.#entries.findIndex((entry) => entry.item === item);
    if (index !== -1) this.#entries.splice(index, 1);
    return index !== -1;
  }

  /** Empties the line. */
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

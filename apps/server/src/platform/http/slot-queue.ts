import { secondMs } from "../kernel/clock.ts";
import { KeyedSlots } from "../lib/keyed-slots.ts";

/** Requests that may wait. Half: a burst of 1,000 connections is refused in part. Twice: what waits takes twice the memory. */
export const maxWaitingPerSlot = 32;
/** Less than most clients wait. Shorter, a stall of the machine is an overload. */
export const maxWaitMs = 10 * secondMs;
/** A tenant floods while more wait for each of its slots. With 2, one slow moment makes a flood; with 8, a client with 32 connections is none. */
export const maxLinePerSlot = 4;
/** After this wait the newest request of a flood goes first. With 150 ms, a client with 128 connections is refused now and then. */
export const maxInOrderMs = 300;
/** Each new request of a flood refuses one that has waited for this long. A shorter wait makes more refusals, which take time from answers. */
export const maxWaitInFloodMs = 2 * secondMs;

export type Ticket = {
  readonly tenant: string;
  readonly address: string;
  readonly start: () => void;
  readonly refuse: (reason: "queue_full" | "waited_too_long") => void;
  /** Kept by the queue: since when it waits, and its slot or the timer of its wait. Functions here would keep requests in memory for long. */
  since: number;
  held: "slot" | NodeJS.Timeout | null;
};

/** A fixed number of slots, of which a tenant gets an eighth and an address half. What finds none waits. */
export class SlotQueue {
  readonly #slots: number;
  readonly #now: () => number;
  readonly #tenants: KeyedSlots<string>;
  readonly #addresses: KeyedSlots<string>;
  /** Those that wait, by tenant, in the order of their turns. */
  readonly #lines = new Map<string, Ticket[]>();
  #quietFirst = true;
  taken = 0;
  waiting = 0;

  constructor(slots: number, now = () => performance.now()) {
    this.#slots = slots;
    this.#now = now;
    this.#tenants = new KeyedSlots(Math.ceil(slots / 8));
    this.#addresses = new KeyedSlots(Math.ceil(slots / 2));
  }

  /** Starts it now or later, or refuses it, unless it leaves before. */
  enter(ticket: Ticket): void {
    if (this.mayStart(ticket)) {
      this.#start(ticket);
      return;
    }
    const line = this.#lines.get(ticket.tenant) ?? [];
    this.#lines.set(ticket.tenant, line);
    line.push(ticket);
    this.waiting += 1;
    ticket.since = this.#now();
    ticket.held = setTimeout(() => this.#refuse(ticket, "waited_too_long"), maxWaitMs).unref();
    if (this.waiting > this.#slots * maxWaitingPerSlot) {
      // Of the longest line, so that a flood does not fill the queue for others.
      const longest = [...this.#lines.values()].reduce((a, b) => (b.length > a.length ? b : a));
      this.#refuse(longest[0], "queue_full");
    } else if (this.#isFlood(ticket.tenant, maxWaitInFloodMs)) this.#refuse(line[0], "waited_too_long");
  }

  /** Gives back the slot or leaves the queue. To leave again does nothing. */
  leave(ticket: Ticket): void {
    const { held, tenant, address } = ticket;
    ticket.held = null;
    if (held === "slot") {
      this.#tenants.remove(tenant);
      this.#addresses.remove(address);
      this.taken -= 1;
      this.#startNext(tenant);
    } else if (held !== null) {
      clearTimeout(held);
      const line = this.#lines.get(tenant) ?? [];
      line.splice(line.indexOf(ticket), 1);
      if (line.length === 0) this.#lines.delete(tenant);
      this.waiting -= 1;
    }
  }

  mayStart({ tenant, address }: Ticket): boolean {
    return this.taken < this.#slots && !this.#addresses.isFull(address) && this.#hasRoom(tenant);
  }

  /** A flood gets half of its slots while others have requests under way: what they ask PostgreSQL waits for what the flood asks. */
  #hasRoom(tenant: string): boolean {
    const taken = this.#tenants.taken(tenant);
    return taken < this.#tenants.maxOfEach / (this.taken > taken && this.#isFlood(tenant) ? 2 : 1);
  }

  #start(ticket: Ticket): void {
    this.#tenants.add(ticket.tenant);
    this.#addresses.add(ticket.address);
    this.taken += 1;
    ticket.held = "slot";
    ticket.start();
  }

  #refuse(ticket: Ticket | undefined, reason: Parameters<Ticket["refuse"]>[0]): void {
    if (ticket === undefined) return;
    this.leave(ticket);
    ticket.refuse(reason);
  }

  /** Whether the oldest of a flood has waited for this long. */
  #isFlood(tenant: string, waitedMs = 0): boolean {
    const { length, 0: oldest } = this.#lines.get(tenant) ?? [];
    const maxLine = this.#tenants.maxOfEach * maxLinePerSlot;
    return length > maxLine && this.#now() - (oldest?.since ?? 0) >= waitedMs;
  }

  /**
   * A request of the tenant with the fewest slots; of those that have as many, of the one whose turn was longest ago. Every other time tenants that
   * do not flood go first, so that many floods leave half of the slots that come free to others. Several start where floods had yielded
   * to the tenant that has left.
   */
  #startNext(left: string): void {
    const rank = ([tenant]: [string, unknown]) =>
      this.#tenants.taken(tenant) + (this.#quietFirst && this.#isFlood(tenant) ? this.#slots : 0);
    for (const [tenant, line] of [...this.#lines].sort((a, b) => rank(a) - rank(b))) {
      if (!this.#hasRoom(tenant)) continue;
      const mayStart = (ticket: Ticket) => this.mayStart(ticket);
      const next = this.#isFlood(tenant, maxInOrderMs) ? line.findLast(mayStart) : line.find(mayStart);
      if (next === undefined) continue;
      this.#quietFirst = !this.#quietFirst;
      this.leave(next);
      if (this.#lines.delete(tenant)) this.#lines.set(tenant, line);
      this.#start(next);
      if (!this.#isFlood(left)) this.#startNext(left);
      return;
    }
  }
}

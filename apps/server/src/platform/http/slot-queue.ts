import { secondMs } from "../kernel/clock.ts";
import { KeyedSlots } from "../lib/keyed-slots.ts";

/** Requests that may wait. Half: a burst of 1,000 connections is refused in part. Twice: what waits takes twice the memory. */
export const maxWaitingPerSlot = 32;
/** Less than most clients wait. Shorter, a stall of the machine is an overload. */
export const maxWaitMs = 10 * secondMs;
/**
 * A tenant whose oldest request has waited for longer floods, and its newest goes first: it is answered in time, and the oldest wait until they are
 * refused. Half: a client with 128 connections is refused now and then. Twice: a flood is served later.
 */
export const maxInOrderMs = 300;

export type Ticket = {
  readonly tenant: string;
  readonly address: string;
  readonly start: () => void;
  readonly refuse: (reason: "queue_full" | "waited_too_long") => void;
  /**
   * Kept by the queue: a slot, or the timer of its wait. A function that is put here and replaced keeps its request in
   * memory until V8 collects old objects.
   */
  held: "slot" | NodeJS.Timeout | null;
};

/** A fixed number of slots, of which a tenant gets an eighth and an address half. What finds none waits. */
export class SlotQueue {
  readonly #slots: number;
  readonly #now: () => number;
  readonly #tenants: KeyedSlots<string>;
  readonly #addresses: KeyedSlots<string>;
  /** Those that wait and since when, by tenant, in the order of their turns. */
  readonly #lines = new Map<string, Map<Ticket, number>>();
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
    const line = this.#lines.get(ticket.tenant) ?? new Map<Ticket, number>();
    this.#lines.set(ticket.tenant, line.set(ticket, this.#now()));
    this.waiting += 1;
    ticket.held = setTimeout(() => {
      this.leave(ticket);
      ticket.refuse("waited_too_long");
    }, maxWaitMs).unref();
    if (this.waiting <= this.#slots * maxWaitingPerSlot) return;
    // Of the longest line, so that a flood does not fill the queue for others.
    const [oldest] = [...this.#lines.values()].reduce((a, b) => (b.size > a.size ? b : a)).keys();
    if (oldest === undefined) return;
    this.leave(oldest);
    oldest.refuse("queue_full");
  }

  /** Gives back the slot or leaves the queue. To leave again does nothing. */
  leave(ticket: Ticket): void {
    const { held, tenant, address } = ticket;
    ticket.held = null;
    if (held === null) return;
    if (held === "slot") {
      this.#tenants.remove(tenant);
      this.#addresses.remove(address);
      this.taken -= 1;
      this.#startNext();
      return;
    }
    clearTimeout(held);
    const line = this.#lines.get(tenant);
    line?.delete(ticket);
    if (line?.size === 0) this.#lines.delete(tenant);
    this.waiting -= 1;
  }

  mayStart({ tenant, address }: Ticket): boolean {
    return this.taken < this.#slots && !this.#tenants.isFull(tenant) && !this.#addresses.isFull(address);
  }

  #start(ticket: Ticket): void {
    this.#tenants.add(ticket.tenant);
    this.#addresses.add(ticket.address);
    this.taken += 1;
    ticket.held = "slot";
    ticket.start();
  }

  /** A request of the tenant that has the fewest slots; of those that have as many, of the one whose turn was longest ago. */
  #startNext(): void {
    if (this.#lines.size === 0) return;
    const lines = [...this.#lines].sort(([a], [b]) => this.#tenants.taken(a) - this.#tenants.taken(b));
    for (const [tenant, line] of lines) {
      if (this.#tenants.isFull(tenant)) return;
      const [oldestSince = 0] = line.values();
      const isFlood = this.#now() - oldestSince > maxInOrderMs;
      const tickets = isFlood ? [...line.keys()].reverse() : [...line.keys()];
      const next = tickets.find((ticket) => this.mayStart(ticket));
      if (next === undefined) continue;
      this.leave(next);
      if (this.#lines.delete(tenant)) this.#lines.set(tenant, line);
      this.#start(next);
      return;
    }
  }
}

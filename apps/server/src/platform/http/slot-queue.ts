import { secondMs } from "../kernel/clock.ts";
import { KeyedSlots } from "../lib/keyed-slots.ts";

/**
 * Requests that may wait. With half, a burst of 1,000 connections is partly refused. With twice, waiting
 * requests take twice the memory.
 */
export const maxWaitingPerSlot = 32;
/** Less than most client timeouts. If shorter, a short stall of the machine counts as overload. */
export const maxWaitMs = 10 * secondMs;
/**
 * A tenant floods if more requests wait per slot. With 2, one slow moment counts as a flood. With 8, a client
 * with 32 connections does not.
 */
export const maxLinePerSlot = 4;
/**
 * After this wait the newest request of a flood goes first. With 150 ms, a client with 128 connections is
 * sometimes refused.
 */
export const maxInOrderMs = 300;
/**
 * One in this many requests of such a flood is still the oldest. Otherwise a client with a fixed number of
 * connections never returns to order after one stall. With 4, a quarter of the slots would go to requests
 * that are late already.
 */
export const oldestEvery = 8;
/**
 * Each new request of a flood refuses one that has waited this long. A shorter wait causes more refusals,
 * which take time from answers.
 */
export const maxWaitInFloodMs = 2 * secondMs;

export type Ticket = {
  readonly tenant: string;
  readonly address: string;
  readonly start: () => void;
  readonly refuse: (reason: "queue_full" | "waited_too_long") => void;
  /**
   * Set by the queue: when the wait began, and the slot or the timer. Closures here would keep requests in
   * memory for long.
   */
  since: number;
  held: "slot" | NodeJS.Timeout | null;
};

/** A fixed number of slots, of which a tenant gets an eighth and an address half. Other requests wait. */
export class SlotQueue {
  readonly #slots: number;
  readonly #now: () => number;
  readonly #tenants: KeyedSlots<string>;
  readonly #addresses: KeyedSlots<string>;
  /** Waiting requests by tenant, in the order of the tenants' turns. */
  readonly #lines = new Map<string, Ticket[]>();
  #quietFirst = true;
  #startedOfFloods = 0;
  taken = 0;
  waiting = 0;

  constructor(slots: number, now = () => performance.now()) {
    this.#slots = slots;
    this.#now = now;
    this.#tenants = new KeyedSlots(Math.ceil(slots / 8));
    this.#addresses = new KeyedSlots(Math.ceil(slots / 2));
  }

  /** Starts the request now or later, or refuses it, unless it leaves first. */
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
      // From the longest line, so that a flood does not fill the queue for others.
      const longest = [...this.#lines.values()].reduce((a, b) => (b.length > a.length ? b : a));
      this.#refuse(longest[0], "queue_full");
    } else if (this.#isFlood(ticket.tenant, maxWaitInFloodMs)) this.#refuse(line[0], "waited_too_long");
  }

  /** Releases the slot or leaves the queue. A second call does nothing. */
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
    return this.taken < this.#slots && !this.#addresses.isFull(address) && this.#hasFreeSlot(tenant);
  }

  /**
   * A flood gets half of its slots while others have requests in progress, because their queries would wait
   * behind those of the flood.
   */
  #hasFreeSlot(tenant: string): boolean {
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

  /** Whether the tenant floods and its oldest request has waited this long. */
  #isFlood(tenant: string, waitedMs = 0): boolean {
    const { length, 0: oldest } = this.#lines.get(tenant) ?? [];
    const maxLine = this.#tenants.maxOfEach * maxLinePerSlot;
    return length > maxLine && this.#now() - (oldest?.since ?? 0) >= waitedMs;
  }

  /**
   * Starts a request of the tenant with the fewest slots; among equals, of the one that waits longest for its
   * turn. Every second time other tenants go before floods, so that floods get at most half of the released
   * slots. If the tenant that left does not flood, floods that had yielded to it may start several.
   */
  #startNext(left: string): void {
    const rank = ([tenant]: [string, unknown]) =>
      this.#tenants.taken(tenant) + (this.#quietFirst && this.#isFlood(tenant) ? this.#slots : 0);
    for (const [tenant, line] of [...this.#lines].sort((a, b) => rank(a) - rank(b))) {
      if (!this.#hasFreeSlot(tenant)) continue;
      const mayStart = (ticket: Ticket) => this.mayStart(ticket);
      const isNewestFirst =
        this.#isFlood(tenant, maxInOrderMs) && ++this.#startedOfFloods % oldestEvery !== 0;
      const next = isNewestFirst ? line.findLast(mayStart) : line.find(mayStart);
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

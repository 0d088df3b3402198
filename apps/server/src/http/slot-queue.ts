import { Places } from "../lib/places.ts";

/** Why a request is refused: too many wait, it has waited for too long, or too many bodies are being read. */
export type RefusalReason = "queue_full" | "waited_too_long" | "bodies_full";

/** A request that has a slot, waits for one, or is done with it. */
export type Ticket = {
  readonly caller: string;
  readonly address: string;
  /** What its body takes in memory while it waits. */
  readonly bytes: number;
  readonly start: (hasWaited: boolean) => void;
  readonly refuse: (reason: RefusalReason) => void;
  /** Gives back the slot or leaves the queue; null before it has either and afterwards. */
  leave: (() => void) | null;
};

export type SlotBounds = { slots: number; maxWaiting: number; maxWaitingBytes: number; maxWaitMs: number };

/**
 * One caller gets an eighth of the slots: of 64 that is 8, fewer than the 10 database connections of a process, and enough to keep one core busy.
 * One address gets half: partners behind one proxy or NAT share it, and organizations that one person makes share it, too.
 */
const callerShare = 1 / 8;
const addressShare = 1 / 2;

/**
 * A longer line of one caller is a flood, and its newest request is served first: it is answered in time, while the oldest wait until they are refused and so
 * slow down the connections that they came on. Halved, a client with 64 connections is refused now and then; doubled, a flood is served later.
 */
const floodLength = 100;

/** A fixed number of slots and a bounded queue. Callers that wait are served in turn (round robin), those that have no slot before others. */
export class SlotQueue {
  readonly #bounds: SlotBounds;
  readonly #callers: Places<string>;
  readonly #addresses: Places<string>;
  /** Those that wait, by caller, in the order of their turns. */
  readonly #lines = new Map<string, Ticket[]>();
  #taken = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #isStarting = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
    this.#callers = new Places(Math.ceil(bounds.slots * callerShare));
    this.#addresses = new Places(Math.ceil(bounds.slots * addressShare));
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Starts it now or later, or refuses it, unless it leaves before. */
  enter(ticket: Ticket): void {
    if (this.#mayStart(ticket)) this.#start(ticket, false);
    else this.#wait(ticket);
  }

  #wait(ticket: Ticket): void {
    const { maxWaiting, maxWaitingBytes, maxWaitMs } = this.#bounds;
    if (this.#waitingBytes + ticket.bytes > maxWaitingBytes) {
      ticket.refuse("queue_full");
      return;
    }
    const line = this.#lines.get(ticket.caller) ?? [];
    line.push(ticket);
    this.#lines.set(ticket.caller, line);
    this.#waiting += 1;
    this.#waitingBytes += ticket.bytes;
    const timer = setTimeout(() => refuse(ticket, "waited_too_long"), maxWaitMs).unref();
    ticket.leave = () => {
      clearTimeout(timer);
      ticket.leave = null;
      line.splice(line.indexOf(ticket), 1);
      if (line.length === 0) this.#lines.delete(ticket.caller);
      this.#waiting -= 1;
      this.#waitingBytes -= ticket.bytes;
    };
    if (this.#waiting <= maxWaiting) return;
    // Refused is who has the longest line, so that a flood cannot fill the queue for others.
    const [oldest] = [...this.#lines.values()].reduce((a, b) => (b.length > a.length ? b : a));
    if (oldest !== undefined) refuse(oldest, "queue_full");
  }

  #mayStart({ caller, address }: Ticket): boolean {
    return (
      this.#taken < this.#bounds.slots && !this.#callers.isFull(caller) && !this.#addresses.isFull(address)
    );
  }

  #start(ticket: Ticket, hasWaited: boolean): void {
    const leaveCaller = this.#callers.take(ticket.caller);
    const leaveAddress = this.#addresses.take(ticket.address);
    this.#taken += 1;
    ticket.leave = () => {
      ticket.leave = null;
      leaveCaller?.();
      leaveAddress?.();
      this.#taken -= 1;
      this.#startWaiting();
    };
    ticket.start(hasWaited);
  }

  /** What starts may end at once; then this loop goes on rather than one within it. */
  #startWaiting(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    for (let next = this.#takeNext(); next !== null; next = this.#takeNext()) this.#start(next, true);
    this.#isStarting = false;
  }

  #takeNext(): Ticket | null {
    if (this.#taken >= this.#bounds.slots) return null;
    let next: Ticket | null = null;
    for (const [caller, line] of this.#lines) {
      if (this.#callers.isFull(caller)) continue;
      const mayStart = ({ address }: Ticket) => !this.#addresses.isFull(address);
      const ticket = line.length > floodLength ? line.findLast(mayStart) : line.find(mayStart);
      next ??= ticket ?? null;
      if (ticket === undefined || !this.#callers.isUnused(caller)) continue;
      next = ticket;
      break;
    }
    if (next === null) return null;
    next.leave?.();
    const line = this.#lines.get(next.caller);
    // To the end of the round.
    if (line !== undefined && this.#lines.delete(next.caller)) this.#lines.set(next.caller, line);
    return next;
  }
}

function refuse(ticket: Ticket, reason: RefusalReason): void {
  ticket.leave?.();
  ticket.refuse(reason);
}

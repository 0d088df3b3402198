/** Why a request is not served: too many wait already, its line moves too slowly, or it has waited for too long itself. */
export type RefusalReason = "queue_full" | "queue_slow" | "waited_too_long";

/** A request in the queue's eyes. It waits for a place, holds one, has lent it while it waits for the outside, or is through with all that. */
export type Ticket<T> = {
  readonly item: T;
  readonly since: number;
  state: "waiting" | "placed" | "outside" | "gone";
  readonly lane: Lane<T>;
  /** How many of its lane waited when it came. */
  readonly ahead: number;
};

type Lane<T> = {
  readonly name: string;
  /** Whether a person in the middle of a verification waits here. */
  readonly isPerson: boolean;
  placed: number;
  outside: number;
  readonly waiting: Set<Ticket<T>>;
  /** Since when somebody waits here without interruption. */
  busySince: number;
  /** How long it takes from one place that the lane gets while it waits to the next; 0 until that is known. */
  paceMs: number;
  /** The round that the lane waits in, while somebody waits in it. */
  round: Set<Lane<T>> | null;
};

export type FairQueueOptions = {
  /** The most that may wait, over all lanes. */
  maxWaiting: number;
  /** The longest that anybody waits. */
  maxWaitMs: number;
  /** The most that may be under way, those that have lent their places included. */
  most: number;
};

/**
 * A lane may hold up to this many times as many places as are free (a dynamic threshold, Choudhury and Hahne 1998). So whoever comes next finds a place free, however long
 * those that are taken are held. Alone it is two thirds of all; with 1, a single caller is kept from half of the places; with 3, limits under four leave no place.
 * While others are about it is a quarter, because they wait for what is done for a caller who sends all the time, at each step of their own requests. With two thirds also then, the slowest requests of a quiet caller took half as long again.
 */
const placeShare = 2;
const placeShareBesideOthers = 1 / 3;

/** So long after its last request a lane is still about. Halved, somebody who asks once in a second is not; doubled, a caller is kept from its places for longer by one who has left. */
const aboutMs = 1000;

/** The same for places to wait. One lane gets half of them, so that the other half is there for others. */
const waitingShare = 1;

/**
 * A lane in which somebody has waited without a break for the longest wait is no burst any more but overload, and a
 * line that long would only make everybody in it late (CoDel). From then on it is kept to this share of the longest wait. Halved,
 * two hundred people behind one address are refused although they could be served; doubled, it has no effect.
 */
const standingShare = 0.5;

/**
 * So many may always wait, for as long as anybody may, divided among the lanes that are in line, and so many of each in any case: a client
 * that has a few connections, and sends on each when it has its answer, cannot flood. Halved, such clients meet refusals on a slow
 * machine; doubled, or without the division, many callers who flood together make a line in which everybody is late.
 */
const mayAlwaysWait = 32;
const mayAlwaysWaitEach = 4;

/** How much the latest place that a lane got says about its pace. Halved, a change is noticed late; doubled, one pause of the process counts as slowness. */
const paceMemory = 0.2;

/** Every so many places go to whoever has been in line longest, so that newcomers cannot keep it standing. */
const turnsOfNewcomers = 4;

/**
 * Who may be worked for now, who waits, and who is next: flow queueing, as FQ-CoDel (RFC 8290) does for packets. Each caller
 * has a lane. A lane in which somebody begins to wait while nothing of it is under way is served before those that have been in
 * line, and these in turn, one request each. What a caller sends beyond its share waits in its own lane, and is refused there.
 *
 * It reads no clock and knows nothing of HTTP. The owner asks for the next after each change.
 */
export class FairQueue<T> {
  limit: number;
  readonly #options: FairQueueOptions;
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #newPersons = new Set<Lane<T>>();
  readonly #newcomers = new Set<Lane<T>>();
  readonly #inLine = new Set<Lane<T>>();
  readonly #newcomersFirst = [this.#newPersons, this.#newcomers, this.#inLine];
  readonly #newcomersLast = [this.#inLine, this.#newcomers, this.#newPersons];
  /** Who has come last, and who before that was another. */
  #latest = { name: "", at: Number.NEGATIVE_INFINITY };
  #latestOther = this.#latest;
  #placed = 0;
  #outside = 0;
  #waiting = 0;
  #turn = 0;

  constructor(limit: number, options: FairQueueOptions) {
    this.limit = limit;
    this.#options = options;
  }

  get placed(): number {
    return this.#placed;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get lanes(): number {
    return this.#lanes.size;
  }

  /** A place, a place to wait, or the reason why there is neither. */
  enter(laneName: string, isPerson: boolean, item: T, now: number): Ticket<T> | RefusalReason {
    const known = this.#lanes.get(laneName);
    const lane: Lane<T> = known ?? {
      name: laneName,
      isPerson,
      placed: 0,
      outside: 0,
      waiting: new Set(),
      busySince: now,
      paceMs: 0,
      round: null,
    };
    this.#notice(laneName, now);
    // Nobody is overtaken: where somebody waits, the newcomer's turn is decided with theirs.
    const placed = this.#waiting === 0 && this.#mayTake(lane, now);
    const refusal = placed ? null : this.#whyNot(lane, now);
    if (refusal !== null) return refusal;
    if (known === undefined) this.#lanes.set(laneName, lane);
    const ticket: Ticket<T> = { item, since: now, state: "waiting", lane, ahead: lane.waiting.size };
    if (placed) this.#place(ticket);
    else this.#line(ticket, now);
    return ticket;
  }

  /** Whoever gets a place next, or null when none is free for anybody who waits. */
  takeNext(now: number): Ticket<T> | null {
    if (this.#waiting === 0 || this.#placed >= this.limit) return null;
    const longestFirst = this.#turn % turnsOfNewcomers === turnsOfNewcomers - 1;
    for (const round of longestFirst ? this.#newcomersLast : this.#newcomersFirst) {
      for (const lane of round) {
        if (!this.#mayTake(lane, now)) continue;
        const [ticket] = lane.waiting;
        if (ticket === undefined) continue;
        this.#turn += 1;
        this.#unline(ticket);
        const paceMs = (now - ticket.since) / (ticket.ahead + 1);
        lane.paceMs += (paceMs - lane.paceMs) * (lane.paceMs === 0 ? 1 : paceMemory);
        // To the end of the line: one request a turn (round robin).
        round.delete(lane);
        lane.round = lane.waiting.size > 0 ? this.#inLine : null;
        lane.round?.add(lane);
        this.#place(ticket);
        return ticket;
      }
    }
    return null;
  }

  /** Takes out everybody who has waited for too long. */
  takeLate(now: number): Ticket<T>[] {
    const late: Ticket<T>[] = [];
    for (const round of this.#newcomersFirst) {
      for (const lane of round) {
        for (const ticket of lane.waiting) {
          if (now - ticket.since < this.#options.maxWaitMs) break;
          late.push(ticket);
        }
      }
    }
    for (const ticket of late) this.giveBack(ticket);
    return late;
  }

  /** Others may have the place while whoever holds it waits for the outside world. */
  lend(ticket: Ticket<T>): void {
    if (ticket.state !== "placed") return;
    ticket.state = "outside";
    this.#placed -= 1;
    ticket.lane.placed -= 1;
    this.#outside += 1;
    ticket.lane.outside += 1;
  }

  /** Back from outside, it goes on at once, also where that makes one more than the limit: what has begun is to end. */
  takeBack(ticket: Ticket<T>): void {
    if (ticket.state !== "outside") return;
    this.#outside -= 1;
    ticket.lane.outside -= 1;
    this.#place(ticket);
  }

  /** Whatever the ticket stands for, a place or a place to wait, is free again. Doing it twice changes nothing. */
  giveBack(ticket: Ticket<T>): void {
    const { lane, state } = ticket;
    ticket.state = "gone";
    if (state === "placed") {
      this.#placed -= 1;
      lane.placed -= 1;
    } else if (state === "outside") {
      this.#outside -= 1;
      lane.outside -= 1;
    } else if (state === "waiting") {
      this.#unline(ticket);
      if (lane.waiting.size === 0) {
        lane.round?.delete(lane);
        lane.round = null;
      }
    }
    if (lane.placed + lane.outside + lane.waiting.size === 0) this.#lanes.delete(lane.name);
  }

  #mayTake(lane: Lane<T>, now: number): boolean {
    const free = this.limit - this.#placed;
    const room = this.#options.most - this.#placed - this.#outside;
    const share = this.#isAlone(lane, now) ? placeShare : placeShareBesideOthers;
    return free > 0 && lane.placed < share * free && lane.placed + lane.outside < placeShare * room;
  }

  #notice(laneName: string, now: number): void {
    if (laneName !== this.#latest.name) this.#latestOther = this.#latest;
    this.#latest = { name: laneName, at: now };
  }

  #isAlone({ name }: Lane<T>, now: number): boolean {
    const other = this.#latest.name === name ? this.#latestOther : this.#latest;
    return now - other.at >= aboutMs;
  }

  #whyNot(lane: Lane<T>, now: number): RefusalReason | null {
    const { maxWaiting, maxWaitMs } = this.#options;
    if (lane.waiting.size >= waitingShare * (maxWaiting - this.#waiting)) return "queue_full";
    const [first] = lane.waiting;
    const inLine = this.#inLine.size + this.#newcomers.size + this.#newPersons.size;
    const always = Math.max(mayAlwaysWaitEach, Math.floor(mayAlwaysWait / Math.max(1, inLine)));
    if (first === undefined || lane.waiting.size < always) return null;
    const isStanding = now - lane.busySince >= maxWaitMs;
    const waitMs = isStanding ? maxWaitMs * standingShare : maxWaitMs;
    if (lane.paceMs * (lane.waiting.size + 1) >= waitMs) return "queue_slow";
    // The pace of before does not tell of a line that has come to a halt.
    return now - first.since >= maxWaitMs ? "queue_slow" : null;
  }

  #place(ticket: Ticket<T>): void {
    ticket.state = "placed";
    ticket.lane.placed += 1;
    this.#placed += 1;
  }

  #line(ticket: Ticket<T>, now: number): void {
    const { lane } = ticket;
    if (lane.waiting.size === 0) {
      lane.busySince = now;
      lane.round = lane.placed > 0 ? this.#inLine : lane.isPerson ? this.#newPersons : this.#newcomers;
      lane.round.add(lane);
    }
    lane.waiting.add(ticket);
    this.#waiting += 1;
  }

  #unline(ticket: Ticket<T>): void {
    ticket.lane.waiting.delete(ticket);
    this.#waiting -= 1;
  }
}

/**
 * Who may be sent to next. Every endpoint has a standing from what its last attempts showed, and those that answer
 * promptly go first and always find room: an attempt that hangs uses up only the room that is set aside for such.
 * Pure bookkeeping in memory; the queue itself is in the database.
 */
export type Standing = "prompt" | "fresh" | "sluggish" | "failing" | "hanging";

const standings: readonly Standing[] = ["prompt", "fresh", "sluggish", "failing", "hanging"];

export type LaneLimits = {
  /** Attempts that began less than a second ago. */
  mostYoung: number;
  /** Of those, attempts to endpoints that have not proven themselves. */
  mostYoungUnproven: number;
  /** Attempts that take longer, and those that might come to. */
  mostSlow: number;
  mostPerEndpoint: number;
};

export function limitsFor(mostInFlight: number): LaneLimits {
  const mostYoung = Math.max(4, Math.floor(mostInFlight / 4));
  return {
    mostYoung,
    mostYoungUnproven: Math.max(2, Math.floor((mostYoung * 3) / 8)),
    mostSlow: Math.max(4, mostInFlight - mostYoung),
    mostPerEndpoint: 64,
  };
}

type Endpoint = {
  standing: Standing;
  /** How many attempts may be under way at once. It grows with success and falls with failure. */
  limit: number;
  reserved: number;
  inFlight: number;
  /** There may be more in its queue than was claimed. */
  more: boolean;
  /** Something became due while a claim was under way; that claim may have missed it. */
  again: boolean;
  usedAt: number;
};

/** One attempt under way. */
export type Ticket = { endpointId: string; proven: boolean; slow: boolean };

const mostPerSluggishEndpoint = 16;

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #ready = new Map<Standing, Set<string>>(standings.map((standing) => [standing, new Set()]));
  #young = 0;
  #youngUnproven = 0;
  #slow = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get inFlight(): number {
    return this.#young + this.#slow;
  }

  get slow(): number {
    return this.#slow;
  }

  get readyCount(): number {
    let count = 0;
    for (const ids of this.#ready.values()) count += ids.size;
    return count;
  }

  get knownCount(): number {
    return this.#endpoints.size;
  }

  standingOf(endpointId: string): Standing | undefined {
    return this.#endpoints.get(endpointId)?.standing;
  }

  /** Something may be due for this endpoint. `failing` is what the database knows of one that is new to us. */
  ready(endpointId: string, failing: boolean): void {
    let endpoint = this.#endpoints.get(endpointId);
    if (endpoint === undefined) {
      endpoint = {
        standing: failing ? "hanging" : "fresh",
        limit: 1,
        reserved: 0,
        inFlight: 0,
        more: false,
        again: false,
        usedAt: performance.now(),
      };
      this.#endpoints.set(endpointId, endpoint);
    }
    if (endpoint.reserved > 0) endpoint.again = true;
    endpoint.more = true;
    this.#offer(endpointId, endpoint);
  }

  /**
   * Whom to claim for now, at most `most` deliveries in all: endpoints that answer promptly, or the others. Whatever is
   * picked must be given to `claimed`.
   */
  pick(proven: boolean, most: number): { endpointId: string; most: number }[] {
    const picked: { endpointId: string; most: number }[] = [];
    let left = most;
    for (const standing of standings) {
      if ((standing === "prompt") !== proven) continue;
      const ids = this.#ready.get(standing) ?? new Set<string>();
      for (const endpointId of ids) {
        const room = Math.min(left, this.#roomFor(standing));
        if (room <= 0) break;
        ids.delete(endpointId);
        const endpoint = this.#endpoints.get(endpointId);
        if (endpoint === undefined) continue;
        const count = Math.min(room, endpoint.limit - endpoint.inFlight - endpoint.reserved);
        if (count <= 0) continue;
        endpoint.reserved += count;
        endpoint.more = false;
        endpoint.usedAt = performance.now();
        this.#young += count;
        if (!proven) this.#youngUnproven += count;
        left -= count;
        picked.push({ endpointId, most: count });
      }
      if (left <= 0) break;
    }
    return picked;
  }

  #roomFor(standing: Standing): number {
    const { mostYoung, mostYoungUnproven, mostSlow } = this.#limits;
    const young = mostYoung - this.#young;
    if (standing === "prompt") return young;
    // An unproven attempt may turn out to hang, so it needs room among the slow ones before it begins; those that have
    // failed leave a quarter of it to those of which nothing is known.
    const slow = standing === "failing" || standing === "hanging" ? Math.floor((mostSlow * 3) / 4) : mostSlow;
    return Math.min(young, mostYoungUnproven - this.#youngUnproven, slow - this.#slow - this.#youngUnproven);
  }

  /** How many of the picked deliveries were there. Gives a ticket for each, to be handed back by `finished`. */
  claimed(endpointId: string, asked: number, got: number): Ticket[] {
    const endpoint = this.#endpoints.get(endpointId);
    if (endpoint === undefined) return [];
    const proven = endpoint.standing === "prompt";
    endpoint.reserved -= asked;
    endpoint.inFlight += got;
    this.#young -= asked - got;
    if (!proven) this.#youngUnproven -= asked - got;
    if (got === asked || endpoint.again) endpoint.more = true;
    endpoint.again = false;
    this.#offer(endpointId, endpoint);
    return Array.from({ length: got }, () => ({ endpointId, proven, slow: false }));
  }

  /** An attempt has lasted a second. It moves to the room of the slow ones, and its endpoint loses its standing. */
  slowed(ticket: Ticket): void {
    if (ticket.slow) return;
    ticket.slow = true;
    this.#young -= 1;
    if (!ticket.proven) this.#youngUnproven -= 1;
    this.#slow += 1;
    const endpoint = this.#endpoints.get(ticket.endpointId);
    if (endpoint === undefined) return;
    if (endpoint.standing === "prompt" || endpoint.standing === "fresh") {
      this.#change(ticket.endpointId, endpoint, "sluggish");
      endpoint.limit = Math.max(1, endpoint.limit >> 2);
    }
  }

  finished(ticket: Ticket, succeeded: boolean): void {
    if (ticket.slow) this.#slow -= 1;
    else {
      this.#young -= 1;
      if (!ticket.proven) this.#youngUnproven -= 1;
    }
    const endpoint = this.#endpoints.get(ticket.endpointId);
    if (endpoint === undefined) return;
    endpoint.inFlight -= 1;
    endpoint.usedAt = performance.now();
    if (succeeded) {
      const most = ticket.slow ? mostPerSluggishEndpoint : this.#limits.mostPerEndpoint;
      endpoint.limit = Math.min(most, ticket.slow ? endpoint.limit + 1 : endpoint.limit * 2);
      this.#change(ticket.endpointId, endpoint, ticket.slow ? "sluggish" : "prompt");
    } else {
      endpoint.limit = ticket.slow ? 1 : Math.max(1, endpoint.limit >> 1);
      this.#change(ticket.endpointId, endpoint, ticket.slow ? "hanging" : "failing");
    }
    this.#offer(ticket.endpointId, endpoint);
  }

  /** Forgets endpoints that nothing happened to since `before`. */
  forgetIdle(before: number): void {
    for (const [id, endpoint] of this.#endpoints) {
      if (endpoint.usedAt < before && endpoint.inFlight === 0 && endpoint.reserved === 0 && !endpoint.more)
        this.#endpoints.delete(id);
    }
  }

  #change(endpointId: string, endpoint: Endpoint, standing: Standing): void {
    if (endpoint.standing === standing) return;
    // Its attempts under way keep the room they were given; only what begins from now on is counted anew.
    if (endpoint.reserved > 0 && (endpoint.standing === "prompt") !== (standing === "prompt"))
      this.#youngUnproven += standing === "prompt" ? -endpoint.reserved : endpoint.reserved;
    if (this.#ready.get(endpoint.standing)?.delete(endpointId)) this.#ready.get(standing)?.add(endpointId);
    endpoint.standing = standing;
  }

  /** An endpoint with many attempts under way waits until half of its room is free, so that claims come in batches. */
  #offer(endpointId: string, endpoint: Endpoint): void {
    if (!endpoint.more) return;
    const free = endpoint.limit - endpoint.inFlight - endpoint.reserved;
    if (free > 0 && free * 2 >= endpoint.limit) this.#ready.get(endpoint.standing)?.add(endpointId);
  }
}

import type { EndpointId } from "@assay/contract/ids";

/**
 * Admission control of deliveries: decides which endpoints may be sent to next. The latest attempts give
 * every endpoint a speed. Prompt endpoints go first and always find a slot, because attempts that hang use
 * only the slots for slow ones. State in memory only; the queue is in the database.
 */
type EndpointSpeed = "prompt" | "fresh" | "sluggish" | "failing" | "hanging";

const speeds: readonly EndpointSpeed[] = ["prompt", "fresh", "sluggish", "failing", "hanging"];

export type LaneLimits = {
  /** Slots for young attempts: those that began less than a second ago. */
  maxYoung: number;
  /** The young slots that attempts to unproven endpoints (any speed but prompt) may take. */
  maxYoungUnproven: number;
  /** Slots for attempts that have lasted longer than a second, and for those that may. */
  maxSlow: number;
  maxPerEndpoint: number;
};

export function limitsFor(maxInFlight: number): LaneLimits {
  const maxYoung = Math.max(4, Math.floor(maxInFlight / 4));
  return {
    maxYoung,
    maxYoungUnproven: Math.max(2, Math.floor((maxYoung * 3) / 8)),
    maxSlow: Math.max(4, maxInFlight - maxYoung),
    maxPerEndpoint: 64,
  };
}

// A listener is one developer's machine. Smaller: a backlog arrives more slowly. Larger: a burst of long
// payloads nears the limit of what may wait unread in a stream.
const maxPerListener = 8;

/** Listeners have separate slots, so that a hanging receiver under test takes none from URLs. */
export function limitsForListeners(maxInFlight: number): LaneLimits {
  return { ...limitsFor(maxInFlight), maxPerEndpoint: maxPerListener };
}

type Endpoint = {
  speed: EndpointSpeed;
  /** Attempts that may be in flight at once. Doubles with a prompt success and falls with a failure. */
  limit: number;
  reserved: number;
  inFlight: number;
  /** Its queue may hold more than was claimed. */
  more: boolean;
  /** Something became due during a claim, which may have missed it. */
  again: boolean;
  usedAt: number;
};

/** One attempt in flight. */
export type LaneTicket = { endpointId: EndpointId; proven: boolean; slow: boolean };

const maxPerSluggishEndpoint = 16;

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #endpoints = new Map<EndpointId, Endpoint>();
  readonly #ready = new Map<EndpointSpeed, Set<EndpointId>>(speeds.map((speed) => [speed, new Set()]));
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

  speedOf(endpointId: EndpointId): EndpointSpeed | undefined {
    return this.#endpoints.get(endpointId)?.speed;
  }

  /** Something may be due. `failing` is the stored state, for an endpoint new to this process. */
  ready(endpointId: EndpointId, failing: boolean): void {
    let endpoint = this.#endpoints.get(endpointId);
    if (endpoint === undefined) {
      endpoint = {
        speed: failing ? "hanging" : "fresh",
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
   * The endpoints to claim for now, with at most `most` deliveries in all: the prompt ones, or all others.
   * Every pick must be passed to `claimed`.
   */
  pick(proven: boolean, most: number): { endpointId: EndpointId; most: number }[] {
    const picked: { endpointId: EndpointId; most: number }[] = [];
    let left = most;
    for (const speed of speeds) {
      if ((speed === "prompt") !== proven) continue;
      const ids = this.#ready.get(speed) ?? new Set<EndpointId>();
      for (const endpointId of ids) {
        const room = Math.min(left, this.#roomFor(speed));
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

  #roomFor(speed: EndpointSpeed): number {
    const { maxYoung, maxYoungUnproven, maxSlow } = this.#limits;
    const young = maxYoung - this.#young;
    if (speed === "prompt") return young;
    // An unproven attempt may hang, so it begins only while a slow slot is free for it. Failing and hanging
    // endpoints leave a quarter of the slow slots to endpoints of unknown speed.
    const slow = speed === "failing" || speed === "hanging" ? Math.floor((maxSlow * 3) / 4) : maxSlow;
    return Math.min(young, maxYoungUnproven - this.#youngUnproven, slow - this.#slow - this.#youngUnproven);
  }

  /** Reports how many of the picked deliveries were found. Returns a ticket for each, for `finished`. */
  claimed(endpointId: EndpointId, asked: number, got: number): LaneTicket[] {
    const endpoint = this.#endpoints.get(endpointId);
    if (endpoint === undefined) return [];
    const proven = endpoint.speed === "prompt";
    endpoint.reserved -= asked;
    endpoint.inFlight += got;
    this.#young -= asked - got;
    if (!proven) this.#youngUnproven -= asked - got;
    if (got === asked || endpoint.again) endpoint.more = true;
    endpoint.again = false;
    this.#offer(endpointId, endpoint);
    return Array.from({ length: got }, () => ({ endpointId, proven, slow: false }));
  }

  /** An attempt has lasted a second: it moves to a slow slot, and its endpoint is no longer prompt. */
  slowed(ticket: LaneTicket): void {
    if (ticket.slow) return;
    ticket.slow = true;
    this.#young -= 1;
    if (!ticket.proven) this.#youngUnproven -= 1;
    this.#slow += 1;
    const endpoint = this.#endpoints.get(ticket.endpointId);
    if (endpoint === undefined) return;
    if (endpoint.speed === "prompt" || endpoint.speed === "fresh") {
      this.#change(ticket.endpointId, endpoint, "sluggish");
      endpoint.limit = Math.max(1, endpoint.limit >> 2);
    }
  }

  finished(ticket: LaneTicket, succeeded: boolean): void {
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
      const { maxPerEndpoint } = this.#limits;
      const most = ticket.slow ? Math.min(maxPerSluggishEndpoint, maxPerEndpoint) : maxPerEndpoint;
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

  #change(endpointId: EndpointId, endpoint: Endpoint, speed: EndpointSpeed): void {
    if (endpoint.speed === speed) return;
    // Attempts in flight keep their slots; only reservations move to the count of the new speed.
    if ((endpoint.speed === "prompt") !== (speed === "prompt"))
      this.#youngUnproven += speed === "prompt" ? -endpoint.reserved : endpoint.reserved;
    if (this.#ready.get(endpoint.speed)?.delete(endpointId)) this.#ready.get(speed)?.add(endpointId);
    endpoint.speed = speed;
  }

  /** An endpoint with many attempts waits until half of its limit is free, so that claims come in batches. */
  #offer(endpointId: EndpointId, endpoint: Endpoint): void {
    if (!endpoint.more) return;
    const free = endpoint.limit - endpoint.inFlight - endpoint.reserved;
    if (free > 0 && free * 2 >= endpoint.limit) this.#ready.get(endpoint.speed)?.add(endpointId);
  }
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Caller } from "../kernel/caller.ts";
import { secondMs } from "../kernel/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { onPlace } from "../lib/wait-outside.ts";
import { firstLimit, type LimitBounds, nextLimit } from "./concurrency-limit.ts";
import { FairQueue, type RefusalReason, type Ticket } from "./fair-queue.ts";
import { pathOf } from "./known-paths.ts";
import { Lanes } from "./lane-of.ts";
import { Overload } from "./overload.ts";
import { RefusalPace } from "./refusal-pace.ts";
import { createOverloadRefusal, overloadError } from "./refuse-overload.ts";
import { requestIdOf } from "./standard-headers.ts";

/** The most that may wait in one process. Halved, a burst of 300 of one caller is refused in part; doubled, most of them would wait in vain. */
const maxWaiting = 1000;

/** How often the limit is looked at and those who have waited too long are found. Halved, a step sees too little to judge by. */
const stepMs = 25;
const lookMs = secondMs;

const waitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** Who asks for the state of the service must learn it however much there is to do. */
const neverHeld = new Set(["/healthz", "/readyz", "/metrics"]);

export type AdmissionOptions = {
  log: Log;
  metrics: Metrics;
  publicUrl: () => string;
  trustProxy: readonly string[];
  maxInFlight: number;
  maxWaitMs: number;
  /** How the database connections stand. */
  connections: () => { waiting: number; limit: number; slowness: number };
};

/** Where a request carries its passage. A WeakMap would do the same, but the collector looks at each of its entries while everything waits. */
const passageOf = Symbol("passage");
type Passing = IncomingMessage & { [passageOf]?: Passage };

/** A request on its way through: from the moment its headers are there until nothing is done for it any more. */
type Passage = {
  serve: () => void;
  refuse: () => void;
  credential: string | null;
  ticket: Ticket<Passage> | null;
  /** Pieces of work that go on for it, and how many of them wait for the outside world. */
  working: number;
  outside: number;
  isClosed: boolean;
};

/**
 * The first thing that happens to a request, before its body is read and before anybody looks who sends it: it gets a place among those
 * that are worked for, or waits for one in the lane of its caller, or is refused with 503. So what cannot be served in time costs
 * next to nothing, and nobody has to wait behind a caller who sends too much.
 */
export class Admission {
  readonly #lanes: Lanes;
  readonly #queue: FairQueue<Passage>;
  readonly #bounds: LimitBounds;
  readonly #overload: Overload;
  readonly #connections: AdmissionOptions["connections"];
  readonly #answerRefusal: ReturnType<typeof createOverloadRefusal>;
  readonly #refusalPace = new RefusalPace<Passage>();
  readonly #admitted = { no_wait: 0, wait: 0 };
  readonly #refused: Record<RefusalReason, number> = { queue_full: 0, queue_slow: 0, waited_too_long: 0 };
  readonly #waitSeconds: (seconds: number) => void;
  #stepTimer: NodeJS.Timeout | null = null;
  #lookTimer: NodeJS.Timeout | null = null;
  #refusalTimer: NodeJS.Timeout | null = null;
  #lastStep = 0;
  #lastLoop = performance.eventLoopUtilization();
  #mostPlaced = 0;
  #someoneWaited = false;
  #turn = 0;

  constructor(options: AdmissionOptions) {
    const { log, metrics, publicUrl, maxInFlight, maxWaitMs } = options;
    const first = Math.min(maxInFlight, firstLimit(options.connections().limit));
    this.#bounds = { first, most: maxInFlight };
    this.#queue = new FairQueue(first, { maxWaiting, maxWaitMs, most: maxInFlight });
    this.#lanes = new Lanes({
      isSecure: () => publicUrl().startsWith("https:"),
      trustProxy: options.trustProxy,
    });
    this.#overload = new Overload(log);
    this.#connections = options.connections;
    this.#answerRefusal = createOverloadRefusal(publicUrl);
    metrics.countersOf(
      "assay_admission_admitted_total",
      "Requests that got a place, without a wait or after one.",
      "after",
      () => this.#admitted,
    );
    metrics.countersOf(
      "assay_admission_refused_total",
      "Requests refused with 503 for want of room, by reason.",
      "reason",
      () => this.#refused,
    );
    this.#waitSeconds = metrics
      .histogram(
        "assay_admission_wait_seconds",
        "How long requests waited for a place, of those that had to and got one.",
        waitBuckets,
      )
      .of({});
    metrics.gaugeOf(
      "assay_admission_limit",
      "Requests that may be worked for at once, as found by trying.",
      () => this.#queue.limit,
    );
    metrics.gaugeOf("assay_admission_placed", "Requests that are worked for.", () => this.#queue.placed);
    metrics.gaugeOf("assay_admission_waiting", "Requests that wait for a place.", () => this.#queue.waiting);
    metrics.gaugeOf(
      "assay_admission_refusals_held",
      "Refused requests whose answer is held back for a moment, because there are many of them.",
      () => this.#refusalPace.held,
    );
    metrics.gaugeOf("assay_admission_overloaded", "1 while requests are refused for want of room.", () =>
      this.#overload.isOn ? 1 : 0,
    );
  }

  get isOverloaded(): boolean {
    return this.#overload.isOn;
  }

  /** Calls `serve` now, later, or never. */
  handle(request: Passing, response: ServerResponse, serve: () => void): void {
    if (neverHeld.has(pathOf(request.url ?? ""))) {
      serve();
      return;
    }
    const refuse = () => this.#answerRefusal(request, response, requestIdOf(request));
    const passage = this.#enter(request, serve, refuse);
    if (passage.ticket === null) return;
    request[passageOf] = passage;
    response.once("close", () => this.#close(passage));
    this.#begin(passage);
  }

  /**
   * For what is held open for long, such as a WebSocket: resolves when there would be a place for it, which it then does not keep, and
   * rejects when there is none.
   */
  async gate(request: IncomingMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const passage = this.#enter(request, resolve, () => reject(overloadError(this.#turn++)));
    const leave = () => this.#close(passage);
    request.socket.once("close", leave);
    this.#begin(passage);
    try {
      await promise;
    } finally {
      request.socket.removeListener("close", leave);
      leave();
    }
  }

  /**
   * Work that keeps the place of its request until it has ended, also when the client is gone by then: otherwise clients that give up and
   * come again would have more and more work done for nobody.
   */
  holding<A extends { raw: Passing }, B, T>(
    work: (request: A, reply: B) => Promise<T>,
  ): (request: A, reply: B) => Promise<T> {
    return async (request, reply) => {
      const passage = request.raw[passageOf];
      if (passage === undefined) return work(request, reply);
      passage.working += 1;
      const place = { leave: () => this.#lend(passage), comeBack: () => this.#takeBack(passage) };
      try {
        return await onPlace(place, () => work(request, reply));
      } finally {
        passage.working -= 1;
        if (passage.isClosed && passage.working === 0) this.#giveBack(passage);
      }
    };
  }

  /** The answer goes on, but as a stream on which little happens. */
  letGo(request: Passing): void {
    const passage = request[passageOf];
    if (passage !== undefined) this.#giveBack(passage);
  }

  /** Whose request it was; null where what it presented was not accepted. */
  learn(request: Passing, caller: Caller | null): void {
    const credential = request[passageOf]?.credential ?? null;
    if (credential === null) return;
    if (caller === null) this.#lanes.forget(credential);
    else this.#lanes.learn(credential, caller);
  }

  #enter(request: IncomingMessage, serve: () => void, refuse: () => void): Passage {
    const { lane, isPerson, credential } = this.#lanes.of(request);
    const now = performance.now();
    this.#step(now);
    const passage: Passage = {
      serve,
      refuse,
      credential,
      ticket: null,
      working: 0,
      outside: 0,
      isClosed: false,
    };
    const ticket = this.#queue.enter(lane, isPerson, passage, now);
    if (typeof ticket === "string") {
      this.#refuse(passage, ticket, now);
      return passage;
    }
    passage.ticket = ticket;
    if (ticket.state === "waiting") {
      this.#someoneWaited = true;
      this.#stepTimer ??= setTimeout(() => this.#stepInTime(), stepMs).unref();
    }
    return passage;
  }

  /** Starts the one that has just come, where it got a place, or whoever is next. */
  #begin({ ticket, serve }: Passage): void {
    if (ticket?.state !== "placed") {
      this.#startNext();
      return;
    }
    this.#mostPlaced = Math.max(this.#mostPlaced, this.#queue.placed);
    this.#admitted.no_wait += 1;
    serve();
  }

  #close(passage: Passage): void {
    passage.isClosed = true;
    if (passage.working === 0) this.#giveBack(passage);
  }

  #lend(passage: Passage): void {
    passage.outside += 1;
    if (passage.ticket === null || passage.outside < passage.working) return;
    this.#queue.lend(passage.ticket);
    this.#startNext();
  }

  #takeBack(passage: Passage): void {
    passage.outside -= 1;
    if (passage.ticket !== null && passage.outside < passage.working) this.#queue.takeBack(passage.ticket);
  }

  #giveBack(passage: Passage): void {
    if (passage.ticket === null || passage.ticket.state === "gone") return;
    this.#queue.giveBack(passage.ticket);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#queue.waiting === 0) return;
    const now = performance.now();
    for (let next = this.#queue.takeNext(now); next !== null; next = this.#queue.takeNext(now)) {
      this.#mostPlaced = Math.max(this.#mostPlaced, this.#queue.placed);
      this.#admitted.wait += 1;
      this.#waitSeconds((now - next.since) / secondMs);
      next.item.serve();
    }
  }

  #stepInTime(): void {
    this.#stepTimer = null;
    const now = performance.now();
    for (const ticket of this.#queue.takeLate(now)) {
      this.#countRefusal("waited_too_long");
      ticket.item.refuse();
    }
    this.#step(now);
    this.#startNext();
    if (this.#queue.waiting > 0) {
      this.#someoneWaited = true;
      this.#stepTimer ??= setTimeout(() => this.#stepInTime(), stepMs).unref();
    }
  }

  #step(now: number): void {
    if (now - this.#lastStep < stepMs) return;
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, this.#lastLoop);
    const { waiting: poolWaiting, slowness: databaseSlowness } = this.#connections();
    this.#queue.limit = nextLimit(this.#queue.limit, this.#bounds, {
      loopUtilization: utilization,
      poolWaiting,
      databaseSlowness,
      placed: this.#mostPlaced,
      someoneWaited: this.#someoneWaited,
    });
    this.#lastStep = now;
    this.#lastLoop = loop;
    this.#mostPlaced = this.#queue.placed;
    this.#someoneWaited = this.#queue.waiting > 0;
  }

  #refuse(passage: Passage, reason: RefusalReason, now: number): void {
    this.#countRefusal(reason);
    if (this.#refusalPace.mayGo(passage, now)) passage.refuse();
    this.#refusalTimer ??= setInterval(() => this.#refuseDue(), stepMs).unref();
  }

  #refuseDue(): void {
    const due = this.#refusalPace.takeDue(performance.now());
    for (const passage of due) passage.refuse();
    if (due.length > 0 || this.#refusalPace.held > 0 || this.#refusalTimer === null) return;
    clearInterval(this.#refusalTimer);
    this.#refusalTimer = null;
  }

  #countRefusal(reason: RefusalReason): void {
    this.#refused[reason] += 1;
    this.#overload.refused(reason, performance.now(), this.#state());
    this.#lookTimer ??= setInterval(() => this.#look(), lookMs).unref();
  }

  #look(): void {
    this.#overload.look(performance.now(), this.#state());
    if (this.#overload.isOn || this.#lookTimer === null) return;
    clearInterval(this.#lookTimer);
    this.#lookTimer = null;
  }

  #state(): { limit: number; waiting: number } {
    return { limit: this.#queue.limit, waiting: this.#queue.waiting };
  }
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { ApiError } from "../kernel/api-error.ts";
import type { Caller } from "../kernel/caller.ts";
import { secondMs } from "../kernel/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { Callers } from "./caller-of.ts";
import { pathOf } from "./known-paths.ts";
import { Overload } from "./overload.ts";
import { Bodies } from "./read-body.ts";
import { overloadError, refuseRequest } from "./refuse-request.ts";
import { type RefusalReason, SlotQueue, type Ticket } from "./slot-queue.ts";
import { requestIdOf } from "./standard-headers.ts";

/** Halved, a burst of 1,000 connections is refused in part; doubled, requests that wait take twice the memory. */
const maxWaiting = 2000;
const maxWaitingBytes = 64 * 1024 * 1024;
/** Requests that a connection may send ahead of their answers. No browser does so; more would only pile up. */
const maxPipelined = 100;
/** An answer of which nothing leaves between two looks, this far apart, has nobody who reads it. Halved, a phone in a tunnel loses its answer. */
const stalledAnswerMs = 30 * secondMs;
const lookMs = secondMs;
const waitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** Who asks for the state of the service must learn it however much there is to do. */
const neverHeld = new Set(["/healthz", "/readyz", "/metrics"]);

type AdmissionOptions = {
  log: Log;
  metrics: Metrics;
  publicUrl: () => string;
  trustProxy: readonly string[];
  maxInFlight: number;
  maxWaitMs: number;
};

/** What a request carries. A WeakMap would do the same, but the collector looks at each of its entries while everything waits. */
type Holding = { ticket: Ticket; credential: string | null; body: Buffer | null };
const holding = Symbol("holding");
type Held = IncomingMessage & { [holding]?: Holding };

/**
 * The first thing that happens to a request: its body is read, then it gets a slot, waits for one, or is refused with 503, before anybody
 * looks who sends it. It keeps the slot from the first look-up until its answer is handed to the socket, also when the client has left
 * by then, so the network holds no slot.
 */
export class Admission {
  readonly #callers: Callers;
  readonly #bodies = new Bodies();
  readonly #queue: SlotQueue;
  readonly #overload: Overload;
  readonly #log: Log;
  readonly #publicUrl: () => string;
  readonly #pipelines = new WeakMap<Socket, (() => void)[]>();
  readonly #admitted = { no_wait: 0, wait: 0 };
  readonly #refused: Record<RefusalReason, number> = { queue_full: 0, waited_too_long: 0, bodies_full: 0 };
  readonly #waitSeconds: (seconds: number) => void;
  readonly #slots: number;
  #lookTimer: NodeJS.Timeout | null = null;

  constructor({ log, metrics, publicUrl, trustProxy, maxInFlight, maxWaitMs }: AdmissionOptions) {
    this.#slots = maxInFlight;
    this.#queue = new SlotQueue({ slots: maxInFlight, maxWaiting, maxWaitingBytes, maxWaitMs });
    this.#callers = new Callers({ isSecure: () => publicUrl().startsWith("https:"), trustProxy });
    this.#overload = new Overload(log);
    this.#log = log;
    this.#publicUrl = publicUrl;
    this.#waitSeconds = metrics
      .histogram(
        "assay_admission_wait_seconds",
        "How long requests waited for a slot, of those that had to and got one.",
        waitBuckets,
      )
      .of({});
    this.#show(metrics);
  }

  get isOverloaded(): boolean {
    return this.#overload.isOn;
  }

  /** Calls `serve` now, later, or never. Requests of one connection are dealt with one after the other. */
  handle(request: Held, response: ServerResponse, serve: () => void): void {
    if (neverHeld.has(pathOf(request.url ?? ""))) {
      serve();
      return;
    }
    const { socket } = request;
    const begin = () => {
      response.once("close", () => this.#beginNext(socket));
      this.#receive(request, response, serve);
    };
    const pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined) {
      this.#pipelines.set(socket, []);
      begin();
    } else if (pipeline.push(begin) > maxPipelined) socket.destroy();
  }

  /** For what is held open for long, such as a WebSocket: resolves when there is a slot for it, which it does not keep. */
  async gate(request: IncomingMessage): Promise<void> {
    const { caller, address } = this.#callers.of(request);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ticket = this.#ticket({ caller, address, bytes: 0 }, resolve, () => reject(overloadError()));
    const leave = () => ticket.leave?.();
    request.socket.once("close", leave);
    this.#queue.enter(ticket);
    await promise.finally(() => {
      request.socket.removeListener("close", leave);
      leave();
    });
  }

  /** The answer goes to the socket from here on: whoever reads it slowly holds no slot. */
  answered(request: Held, response: ServerResponse): void {
    if (request[holding] === undefined) return;
    response.setTimeout(stalledAnswerMs);
    this.letGo(request);
  }

  /** Gives up the slot before the answer, for one that only waits for others. */
  letGo(request: Held): void {
    request[holding]?.ticket.leave?.();
  }

  /** The body that was read before the request got its slot; null where it was not. It is there also when the client has left. */
  bodyOf({ [holding]: held, headers }: Held): Readable | null {
    const body = held?.body ?? null;
    // The framework asks for a body where there is a type for it.
    if (body === null || (body.length === 0 && headers["content-type"] === undefined)) return null;
    return Readable.from([body], { objectMode: false });
  }

  /** Whose request it was; null where what it presented was not accepted. */
  learn(request: Held, caller: Caller | null): void {
    const credential = request[holding]?.credential ?? null;
    if (credential === null) return;
    if (caller === null) this.#callers.forget(credential);
    else this.#callers.learn(credential, caller);
  }

  #beginNext(socket: Socket): void {
    const next = this.#pipelines.get(socket)?.shift();
    if (next === undefined || socket.destroyed) {
      this.#pipelines.delete(socket);
      return;
    }
    // Of the answer before.
    socket.setTimeout(0);
    next();
  }

  #receive(request: Held, response: ServerResponse, serve: () => void): void {
    const { caller, address, credential } = this.#callers.of(request);
    const refuse = (failure: ApiError, requestId = requestIdOf(request)) =>
      refuseRequest(request, response, failure, { requestId, publicUrl: this.#publicUrl() });
    this.#bodies.receive(request, response, address, {
      complete: (body) => {
        if (response.destroyed) return;
        let isServed = false;
        const start = () => {
          isServed = true;
          serve();
        };
        const who = { caller, address, bytes: body?.length ?? 0 };
        const ticket = this.#ticket(who, start, () => refuse(overloadError()));
        request[holding] = { ticket, credential, body };
        // An answer that is ended gives the slot back by itself; work for a client that has left keeps it until it ends.
        response.once("close", () => {
          if (!isServed || response.writableEnded) ticket.leave?.();
        });
        this.#queue.enter(ticket);
      },
      full: () => {
        this.#count("bodies_full");
        refuse(overloadError());
      },
      tooSlow: () => {
        const requestId = requestIdOf(request);
        this.#log.info("request refused: its body came too slowly", { requestId });
        refuse(new ApiError("REQUEST_TIMEOUT"), requestId);
      },
      lost: () => this.#log.info("request given up by the client", { requestId: requestIdOf(request) }),
    });
  }

  #ticket(who: Pick<Ticket, "caller" | "address" | "bytes">, start: () => void, refuse: () => void): Ticket {
    const since = performance.now();
    return {
      ...who,
      leave: null,
      start: (hasWaited) => {
        this.#admitted[hasWaited ? "wait" : "no_wait"] += 1;
        if (hasWaited) this.#waitSeconds((performance.now() - since) / secondMs);
        start();
      },
      refuse: (reason) => {
        this.#count(reason);
        refuse();
      },
    };
  }

  #count(reason: RefusalReason): void {
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
    return { limit: this.#slots, waiting: this.#queue.waiting };
  }

  #show(metrics: Metrics): void {
    metrics.countersOf(
      "assay_admission_admitted_total",
      "Requests that got a slot, without a wait or after one.",
      "after",
      () => this.#admitted,
    );
    metrics.countersOf(
      "assay_admission_refused_total",
      "Requests refused with 503 for want of room, by reason.",
      "reason",
      () => this.#refused,
    );
    metrics.gaugeOf("assay_admission_limit", "Requests that may have a slot at once.", () => this.#slots);
    metrics.gaugeOf("assay_admission_placed", "Requests that have a slot.", () => this.#queue.taken);
    metrics.gaugeOf("assay_admission_waiting", "Requests that wait for a slot.", () => this.#queue.waiting);
    metrics.gaugeOf("assay_admission_reading", "Bodies that are being read.", () => this.#bodies.reading);
    metrics.gaugeOf("assay_admission_overloaded", "1 while requests are refused for want of room.", () =>
      this.#overload.isOn ? 1 : 0,
    );
  }
}

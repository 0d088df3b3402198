import { hash } from "node:crypto";
import { Readable } from "node:stream";
import type { ApiKeyId } from "@assay/contract/ids";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import type { Caller, DisabledKey } from "../kernel/caller.ts";
import { type Clock, secondMs } from "../kernel/clock.ts";
import { addressBlock } from "../lib/address-block.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import { BodyReader, usualBodyBytes } from "./read-body.ts";
import { RequestRate } from "./request-rate.ts";
import { sessionTokenOf } from "./session-cookie.ts";
import { SlotQueue, type Ticket } from "./slot-queue.ts";

/** An answer of which nothing leaves for this long is not being read. Half: a phone in a tunnel loses its answer. */
const stalledAnswerMs = 30 * secondMs;
/** An overload is over when nothing was refused for this long. */
const calmMs = 5 * secondMs;
/** The next request with a credential that was forgotten counts by its address. */
const maxCredentials = 10_000;

type Options = {
  log: Log;
  metrics: Metrics;
  clock: Clock;
  isSecure: () => boolean;
  slots: number;
  /** Of one tenant. */
  maxRequestsPerSecond: number;
};
type Reason = "queue_full" | "waited_too_long" | "bodies_full" | "organization_rate";
/** Kept on the request itself: of a WeakMap the collector looks at each entry while everything waits. */
const admitted = Symbol("admitted");
const keyShown = Symbol("keyShown");
type Request = FastifyRequest & {
  [admitted]?: { ticket: Ticket; credential: string | null; body: Buffer | null };
  [keyShown]?: ApiKeyId | null;
};
/** Whose a credential was when it was last accepted. */
type Owner = { tenant: string; keyId: ApiKeyId | null };

/** Before anything is looked up for a request, its body is read and it gets a slot, waits for one, or is refused with 503. */
export class Admission {
  readonly #options: Options;
  readonly #bodies = new BodyReader();
  readonly #queue: SlotQueue;
  readonly #rate: RequestRate;
  /** By the hash of a credential. Others count by address: credentials can be made up, addresses cannot. */
  readonly #owners = new Map<string, Owner>();
  readonly #refused: Record<Reason, number> = {
    queue_full: 0,
    waited_too_long: 0,
    bodies_full: 0,
    organization_rate: 0,
  };
  #lastRefusedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#queue = new SlotQueue(options.slots);
    this.#rate = new RequestRate(options.maxRequestsPerSecond, options.clock);
    const { metrics } = options;
    const help = "Requests refused with 503, by reason: want of room, or the limit of their organization.";
    metrics.countersOf("assay_admission_refused_total", help, "reason", () => this.#refused);
    metrics.gaugeOf("assay_admission_placed", "Requests that have a slot.", () => this.#queue.taken);
    metrics.gaugeOf("assay_admission_waiting", "Requests that wait for one.", () => this.#queue.waiting);
    metrics.gaugeOf("assay_admission_reading", "Bodies that are being read.", () => this.#bodies.reading);
    const overload = "1 while requests are refused for want of room.";
    metrics.gaugeOf("assay_admission_overloaded", overload, () => Number(this.isOverloaded));
  }

  get isOverloaded(): boolean {
    return performance.now() - this.#lastRefusedAt < calmMs;
  }

  /** Calls `done` when the request has its slot, or with the refusal, unless the client leaves before. */
  admit(request: Request, reply: FastifyReply, done: (refusal?: ApiError) => void): void {
    const { raw, headers } = request;
    const address = addressBlock(request.ip);
    const shown = headers.authorization ?? sessionTokenOf(headers.cookie, this.#options.isSecure());
    const credential = shown === null ? null : hash("sha256", shown, "base64");
    const owner = this.#owners.get(credential ?? "");
    // Also a request that never comes as far as the key being looked up is one of that key.
    request[keyShown] = owner?.keyId ?? null;
    const refuse = (reason: Reason) => {
      // What is still to come of its body would be read for nothing.
      if (!raw.complete) reply.header("connection", "close");
      done(this.#refusal(reason));
    };
    // Not the dashboard: there its members see that they are at the limit.
    if (owner !== undefined && headers.authorization !== undefined && !this.#rate.take(owner.tenant)) {
      refuse("organization_rate");
      return;
    }
    this.#bodies.read(request, reply, address, (body) => {
      if (body === "bodies_full") return refuse(body);
      let isStarted = false;
      const start = () => {
        isStarted = true;
        done();
      };
      const ticket: Ticket = {
        tenant: owner?.tenant ?? address,
        address,
        start,
        refuse,
        held: null,
        since: 0,
      };
      request[admitted] = { ticket, credential, body };
      // Work for a client that has left keeps its slot until it ends.
      reply.raw.once("close", () => {
        if (!isStarted || reply.raw.writableEnded) this.#queue.leave(ticket);
      });
      if ((body?.length ?? 0) > usualBodyBytes && !this.#queue.mayStart(ticket)) refuse("queue_full");
      else this.#queue.enter(ticket);
    });
  }

  /** The answer goes to the socket from here on: a client that reads it slowly holds no slot. */
  answered(request: Request, reply: FastifyReply): void {
    if (request[admitted] !== undefined) reply.raw.setTimeout(stalledAnswerMs);
    this.letGo(request);
  }

  /** Gives up the slot before the answer, for a request that only waits for others. */
  letGo({ [admitted]: held }: Request): void {
    if (held !== undefined) this.#queue.leave(held.ticket);
  }

  /** The body that was read before; null where there is none. It is there also when the client has left. */
  bodyOf({ [admitted]: held }: Request): Readable | null {
    return held?.body ? Readable.from([held.body], { objectMode: false }) : null;
  }

  /** Whose request it was; null where its credential was not accepted. */
  learn(request: Request, shown: Caller | DisabledKey | null): Caller | null {
    request[keyShown] = shown === null || shown.kind === "user" ? null : shown.keyId;
    const caller = shown?.kind === "disabled_key" ? null : shown;
    const { credential } = request[admitted] ?? {};
    if (!credential) return caller;
    if (caller === null) this.#owners.delete(credential);
    else this.#owners.set(credential, ownerOf(caller));
    // A map keeps the order in which its keys came, so the first was learnt longest ago.
    if (this.#owners.size > maxCredentials) this.#owners.delete(this.#owners.keys().next().value ?? "");
    return caller;
  }

  /** The API key that a request was made with, as far as it is known whose it is. */
  keyOf({ [keyShown]: keyId }: Request): ApiKeyId | null {
    return keyId ?? null;
  }

  #refusal(reason: Reason): ApiError {
    this.#refused[reason] += 1;
    // Those that are refused together should not return together.
    const headers = { "retry-after": String(1 + (this.#refused[reason] % 3)) };
    if (reason === "organization_rate") return new ApiError("REQUEST_RATE_EXCEEDED", { headers });
    if (!this.isOverloaded)
      this.#options.log.warn("overload: more requests come than can be served, some are refused", { reason });
    this.#lastRefusedAt = performance.now();
    return new ApiError("SERVICE_UNAVAILABLE", {
      message: "The service has more to do than it can.",
      hint: "Nothing was done. Try again after the time in `Retry-After`, then less and less often.",
      headers,
    });
  }
}

function ownerOf(caller: Caller): Owner {
  if (caller.kind === "key") return { tenant: caller.organizationId, keyId: caller.keyId };
  return { tenant: caller.membership?.organizationId ?? caller.userId, keyId: null };
}

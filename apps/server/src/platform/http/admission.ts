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

/**
 * If no byte of an answer is sent for this long, the client is not reading it. With half of it, a phone in a
 * tunnel would lose its answer.
 */
const stalledAnswerMs = 30 * secondMs;
/** An overload ends when nothing was refused for this long. */
const calmMs = 5 * secondMs;
/** Requests with a credential that was evicted count by their address. */
const maxCredentials = 10_000;

type Options = {
  log: Log;
  metrics: Metrics;
  clock: Clock;
  isSecure: () => boolean;
  slots: number;
  /** For one tenant. */
  maxRequestsPerSecond: number;
};
const reasons = ["queue_full", "waited_too_long", "bodies_full", "organization_rate"] as const;
type Reason = (typeof reasons)[number];
/** Stored on the request: the garbage collector scans each entry of a WeakMap while the process is paused. */
const admitted = Symbol("admitted");
const keyShown = Symbol("keyShown");
type Request = FastifyRequest & {
  [admitted]?: { ticket: Ticket; credential: string | null; body: Buffer | null };
  [keyShown]?: ApiKeyId | null;
};
/** The owner of a credential when it was last accepted. */
type Owner = { tenant: string; keyId: ApiKeyId | null };

/** Before any lookup for a request, reads its body and gives it a slot, queues it, or refuses it with 503. */
export class Admission {
  readonly #options: Options;
  readonly #bodies = new BodyReader();
  readonly #queue: SlotQueue;
  readonly #rate: RequestRate;
  /**
   * By the hash of a credential. Unknown credentials count by address: credentials can be made up, addresses
   * cannot.
   */
  readonly #owners = new Map<string, Owner>();
  readonly #count: (labels: { reason: Reason }, by?: number) => void;
  #refused = 0;
  #lastRefusedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#queue = new SlotQueue(options.slots);
    this.#rate = new RequestRate(options.maxRequestsPerSecond, options.clock);
    const { metrics } = options;
    const help = "Requests refused with 503, by reason: out of capacity, or the limit of their organization.";
    this.#count = metrics.counter("assay_admission_refused_total", help);
    // From the start, so that the first refusal shows as an increase.
    for (const reason of reasons) this.#count({ reason }, 0);
    metrics.gaugeOf("assay_admission_placed", "Requests in a slot.", () => this.#queue.taken);
    metrics.gaugeOf("assay_admission_waiting", "Requests that wait for a slot.", () => this.#queue.waiting);
    metrics.gaugeOf("assay_admission_reading", "Bodies that are being read.", () => this.#bodies.reading);
    const overload = "1 while requests are refused because the process is out of capacity.";
    metrics.gaugeOf("assay_admission_overloaded", overload, () => Number(this.isOverloaded));
  }

  get isOverloaded(): boolean {
    return performance.now() - this.#lastRefusedAt < calmMs;
  }

  /** Calls `done` when the request has its slot, or with the refusal, unless the client disconnects first. */
  admit(request: Request, reply: FastifyReply, done: (refusal?: ApiError) => void): void {
    const { raw, headers } = request;
    const address = addressBlock(request.ip);
    const shown = headers.authorization ?? sessionTokenOf(headers.cookie, this.#options.isSecure());
    const credential = shown === null ? null : hash("sha256", shown, "base64");
    const owner = this.#owners.get(credential ?? "");
    // A request that is refused before the key is looked up still counts for that key.
    request[keyShown] = owner?.keyId ?? null;
    const refuse = (reason: Reason) => {
      // The rest of the body would be read in vain.
      if (!raw.complete) reply.header("connection", "close");
      done(this.#refusal(reason));
    };
    // Not for the dashboard, where members must be able to see that the limit is reached.
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
      // A request whose client has disconnected keeps its slot until its work ends.
      reply.raw.once("close", () => {
        if (!isStarted || reply.raw.writableEnded) this.#queue.leave(ticket);
      });
      if ((body?.length ?? 0) > usualBodyBytes && !this.#queue.mayStart(ticket)) refuse("queue_full");
      else this.#queue.enter(ticket);
    });
  }

  /** From here on the socket sends the answer: a client that reads slowly holds no slot. */
  answered(request: Request, reply: FastifyReply): void {
    if (request[admitted] !== undefined) reply.raw.setTimeout(stalledAnswerMs);
    this.releaseSlot(request);
  }

  /** Releases the slot before the answer, for a request that only waits. */
  releaseSlot({ [admitted]: held }: Request): void {
    if (held !== undefined) this.#queue.leave(held.ticket);
  }

  /** The body that was read before; null without a body. Available even if the client has disconnected. */
  bodyOf({ [admitted]: held }: Request): Readable | null {
    return held?.body ? Readable.from([held.body], { objectMode: false }) : null;
  }

  /** Records the owner of a credential; null if it was not accepted. */
  recordOwner(request: Request, shown: Caller | DisabledKey | null): Caller | null {
    request[keyShown] = shown === null || shown.kind === "user" ? null : shown.keyId;
    const caller = shown?.kind === "disabled_key" ? null : shown;
    const { credential } = request[admitted] ?? {};
    if (!credential) return caller;
    if (caller === null) this.#owners.delete(credential);
    else this.#owners.set(credential, ownerOf(caller));
    // A Map keeps insertion order, so the first entry is the oldest.
    if (this.#owners.size > maxCredentials) this.#owners.delete(this.#owners.keys().next().value ?? "");
    return caller;
  }

  /** The API key of a request, if its owner is known. */
  keyOf({ [keyShown]: keyId }: Request): ApiKeyId | null {
    return keyId ?? null;
  }

  #refusal(reason: Reason): ApiError {
    this.#count({ reason });
    // Requests that are refused together should not retry together.
    const headers = { "retry-after": String(1 + (++this.#refused % 3)) };
    if (reason === "organization_rate") return new ApiError("REQUEST_RATE_EXCEEDED", { headers });
    if (!this.isOverloaded)
      this.#options.log.warn("overload: some requests are refused, because the process is out of capacity", {
        reason,
      });
    this.#lastRefusedAt = performance.now();
    return new ApiError("SERVICE_UNAVAILABLE", {
      message: "The service is overloaded.",
      hint: "Nothing was changed. Retry after the time in `Retry-After`, then with increasing delays.",
      headers,
    });
  }
}

function ownerOf(caller: Caller): Owner {
  if (caller.kind === "key") return { tenant: caller.organizationId, keyId: caller.keyId };
  return { tenant: caller.membership?.organizationId ?? caller.userId, keyId: null };
}

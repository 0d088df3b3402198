import { randomUUID } from "node:crypto";
import type { DeliveryId, EndpointId, OrganizationId, UserId } from "@assay/contract/ids";
import type { EventFeed, EventStream } from "@assay/contract/route";
import {
  type ListenerEndReason,
  type ListenerMessage,
  maxListenerStreamsPerCaller,
  maxListenerStreamsPerCreator,
  maxListenerStreamsPerOrganization,
} from "@assay/contract/webhook-listeners";
import type { DeliveryError } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import type { Core } from "../../platform/core.ts";
import type { Listener } from "../../platform/db/listener.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller, Tenant } from "../../platform/kernel/caller.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { KeyedSlots } from "../../platform/lib/keyed-slots.ts";
import { describeError } from "../../platform/lib/log.ts";
import { readCreator } from "../../tenants/organizations/organization.store.ts";
import { rightsChannel } from "../../tenants/organizations/rights.store.ts";
import { countOpen } from "./delivery.store.ts";
import type { SendableDelivery, Sender, Sent } from "./delivery-worker.ts";
import { findEndpoint } from "./endpoint.store.ts";
import { limitsForListeners } from "./lanes.ts";
import {
  answerChannel,
  existingListeners,
  listenerChannel,
  takeOverListener,
  touchListeners,
} from "./listener.store.ts";
import { attemptTimeoutMs } from "./send-delivery.ts";
import { headersOf, sign } from "./signing.ts";

/** Streams of all listeners at this process. Each costs little more than a connection. */
const maxStreams = 1_000;
/**
 * How often this process marks its streams as open and checks whether they were replaced. Shorter: more
 * writes. Longer: if a notification was lost, a replaced stream gets nothing and closes late.
 */
const touchEveryMs = 30 * secondMs;
const maxCounted = 1000;

type Message = Static<typeof ListenerMessage>;
type Waiting = { leaseNumber: number; settle: (sent: Sent) => void };

type OpenStream = {
  streamId: string;
  endpointId: EndpointId;
  organizationId: OrganizationId;
  environment: Tenant["environment"];
  events: EventStream<Message>;
  waiting: Map<DeliveryId, Waiting>;
  isClosed: boolean;
};

type Needs = Pick<Core, "config" | "db" | "clock" | "log" | "metrics">;

/** For tests: a shorter timeout, which is read at each attempt, and smaller limits. */
export type ListenerHubOptions = {
  attemptTimeoutMs?: number;
  maxStreamsPerOrganization?: number;
  maxStreamsPerCreator?: number;
};

/**
 * The open streams of this process, and the sender of their deliveries. The database says which stream of a
 * listener is current. A delivery waits here without a connection until any process reports the answer, until
 * its timeout, or until the stream closes.
 */
export class ListenerHub implements Sender {
  readonly limits: Sender["limits"];
  readonly #core: Needs;
  readonly #options: ListenerHubOptions;
  readonly #streams = new Map<EndpointId, OpenStream>();
  readonly #ofCaller = new KeyedSlots<string>(maxListenerStreamsPerCaller);
  readonly #ofOrganization: KeyedSlots<OrganizationId>;
  readonly #ofCreator: KeyedSlots<UserId>;
  #opened = 0;
  #onServed: (endpointId: EndpointId) => void = () => {};
  #touchTimer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(core: Needs, options: ListenerHubOptions = {}) {
    this.#core = core;
    this.#options = options;
    this.#ofOrganization = new KeyedSlots(
      options.maxStreamsPerOrganization ?? maxListenerStreamsPerOrganization,
    );
    this.#ofCreator = new KeyedSlots(options.maxStreamsPerCreator ?? maxListenerStreamsPerCreator);
    this.limits = limitsForListeners(core.config.webhookMaxInFlight);
    core.metrics.gaugeOf("assay_listener_streams", "Open streams of webhook listeners.", () => this.#opened);
  }

  /** `onServed` is called with an endpoint that can be served from now on. */
  listen(listener: Listener, onServed: (endpointId: EndpointId) => void): void {
    this.#onServed = onServed;
    listener.on(listenerChannel, (id) => {
      const stream = id === "" ? null : this.#streams.get(knownId(id));
      if (id === "") this.#check([...this.#streams.values()]);
      else if (stream !== null && stream !== undefined) this.#check([stream]);
    });
    listener.on(rightsChannel, (id) => {
      for (const stream of [...this.#streams.values()])
        if (id === "" || stream.organizationId === id) void stream.events.recheck();
    });
    listener.on(answerChannel, (payload) => this.#answered(payload));
    this.#touchTimer = setInterval(() => this.#check([...this.#streams.values()]), touchEveryMs);
    this.#touchTimer.unref();
  }

  /** Closes all streams; what waits for an answer is sent again through the next ones. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#touchTimer);
    for (const stream of [...this.#streams.values()]) this.#end(stream, "closing");
  }

  // --- streams ---------------------------------------------------------------------------------------------

  /** A stream for the listener, which must be the caller's; refused when there are too many. */
  async open(caller: OrganizationCaller, endpointId: EndpointId): Promise<EventFeed<Message>> {
    const found = await findEndpoint(this.#core.db, caller, endpointId);
    if (found?.kind !== "listener") throw new ApiError("NOT_FOUND");
    if (this.#stopped || this.#opened >= maxStreams)
      throw new ApiError("SERVICE_UNAVAILABLE", { headers: { "retry-after": "2" } });
    const giveBack = this.#takeShare(caller, await readCreator(this.#core.db, caller.organizationId));
    this.#opened += 1;
    return (events) => {
      const stream: OpenStream = {
        streamId: randomUUID(),
        endpointId,
        organizationId: caller.organizationId,
        environment: caller.environment,
        events,
        waiting: new Map(),
        isClosed: false,
      };
      // A HEAD request leaves at once, and must not take the listener from another stream. So wait one turn.
      setImmediate(() => void this.#attach(stream));
      return () => {
        this.#opened -= 1;
        giveBack();
        this.#leave(stream);
      };
    };
  }

  /** Takes a slot of each limit, or none. */
  #takeShare(caller: OrganizationCaller, creator: UserId | null): () => void {
    const { organizationId } = caller;
    const shares = [
      {
        take: () => this.#ofCaller.take(caller.kind === "key" ? caller.keyId : caller.userId),
        whose: `${maxListenerStreamsPerCaller} streams of this caller`,
        hint: "End a listener that you no longer need, or use another API key.",
      },
      {
        take: () => this.#ofOrganization.take(organizationId),
        whose: `${maxListenerStreamsPerOrganization} streams of this organization`,
        hint: "End a listener that you no longer need.",
      },
      {
        take: () => (creator === null ? () => {} : this.#ofCreator.take(creator)),
        whose: `${maxListenerStreamsPerCreator} streams of the organizations that the same account created`,
        hint: "End a listener that you no longer need, in any of these organizations.",
      },
    ];
    const taken: (() => void)[] = [];
    const giveBack = () => {
      for (const each of taken) each();
    };
    for (const { take, whose, hint } of shares) {
      const place = take();
      if (place === null) {
        giveBack();
        throw new ApiError("LISTENER_LIMIT_REACHED", { message: `There are ${whose} already.`, hint });
      }
      taken.push(place);
    }
    return giveBack;
  }

  async #attach(stream: OpenStream): Promise<void> {
    const { db, clock, log } = this.#core;
    const { organizationId, endpointId } = stream;
    try {
      if (stream.isClosed) return;
      const isTaken = await db.transaction(async (tx) => {
        const isTaken = await takeOverListener(tx, organizationId, stream, clock.now());
        // The row may have been locked meanwhile. A closed stream must not replace one that is open.
        if (stream.isClosed) throw new Error("the stream has closed");
        return isTaken;
      });
      const waiting = await countOpen(db, endpointId, maxCounted);
      if (stream.isClosed) return;
      if (!isTaken) return this.#end(stream, "removed");
      const before = this.#streams.get(endpointId);
      this.#streams.set(endpointId, stream);
      if (before !== undefined) this.#end(before, "taken_over");
      this.#sendTo(stream, { type: "ready", waiting });
      if (this.#stopped) this.#end(stream, "closing");
      // Another process may have taken it over and notified before this stream was in the map.
      else this.#check([stream]);
      this.#onServed(endpointId);
    } catch (error) {
      if (stream.isClosed) return;
      log.warn("could not attach a listener, it will connect again", describeError(error));
      stream.events.close();
    }
  }

  #sendTo(stream: OpenStream, message: Partial<Message> & Pick<Message, "type">): void {
    const { endpointId, environment } = stream;
    stream.events.send(message.type, {
      endpoint_id: endpointId,
      environment,
      waiting: null,
      delivery: null,
      reason: null,
      ...message,
    });
  }

  #end(stream: OpenStream, reason: ListenerEndReason): void {
    if (stream.isClosed) return;
    this.#sendTo(stream, { type: "ended", reason });
    stream.events.close();
    this.#leave(stream);
  }

  #leave(stream: OpenStream): void {
    stream.isClosed = true;
    if (this.#streams.get(stream.endpointId) === stream) this.#streams.delete(stream.endpointId);
    for (const { settle } of [...stream.waiting.values()]) settle({ kind: "put_back" });
  }

  /** Marks the streams as open, and ends those that are no longer current. */
  #check(streams: readonly OpenStream[]): void {
    if (streams.length === 0 || this.#stopped) return;
    const { db, clock, log } = this.#core;
    const look = async () => {
      const current = await touchListeners(db, streams, clock.now());
      const lost = streams.filter((stream) => !current.has(stream.streamId));
      if (lost.length === 0) return;
      const existing = await existingListeners(
        db,
        lost.map((stream) => stream.endpointId),
      );
      for (const stream of lost)
        this.#end(stream, existing.has(stream.endpointId) ? "taken_over" : "removed");
    };
    look().catch((error) => log.warn("could not check the streams of listeners", describeError(error)));
  }

  // --- sending ---------------------------------------------------------------------------------------------

  outlet() {
    return {
      kind: "listener" as const,
      streamIds: [...this.#streams.values()].map((stream) => stream.streamId),
    };
  }

  serves(endpointId: EndpointId): boolean {
    return this.#streams.has(endpointId);
  }

  async send(delivery: SendableDelivery, secrets: readonly string[], now: Date): Promise<Sent> {
    const stream = this.#streams.get(delivery.endpointId);
    // Notifications may be lost, so the caller's right is checked again for each delivery.
    if (stream === undefined || (await stream.events.recheck()) !== "allowed" || stream.isClosed)
      return { kind: "put_back" };
    return this.#hand(stream, delivery, secrets, now);
  }

  #hand(
    stream: OpenStream,
    delivery: SendableDelivery,
    secrets: readonly string[],
    now: Date,
  ): Promise<Sent> {
    const { id, eventId, eventType, payload } = delivery;
    const headers = headersOf({ id, eventId, eventType }, sign(secrets, { eventId, payload }, now), now);
    const timeoutMs = this.#options.attemptTimeoutMs ?? attemptTimeoutMs;
    const { promise, resolve } = Promise.withResolvers<Sent>();
    const settle = (sent: Sent) => {
      clearTimeout(timer);
      stream.waiting.delete(delivery.id);
      resolve(sent);
    };
    const timer = setTimeout(
      () =>
        settle({
          kind: "answered",
          result: { statusCode: null, error: "timeout", retryAfter: null },
          durationMs: timeoutMs,
          exchange: null,
        }),
      timeoutMs,
    );
    stream.waiting.set(delivery.id, { leaseNumber: delivery.leaseNumber, settle });
    this.#sendTo(stream, {
      type: "delivery",
      delivery: {
        delivery_id: delivery.id,
        event_id: delivery.eventId,
        event_type: delivery.eventType,
        lease: delivery.leaseNumber,
        attempt: delivery.triesUsed + 1,
        headers,
        body: delivery.payload,
      },
    });
    return promise;
  }

  /** If it is lost, the delivery waits until its timeout. That result is dropped, as the lease is gone. */
  #answered(payload: string): void {
    const [deliveryId = "", leaseNumber, outcome] = payload.split(" ");
    for (const { waiting } of this.#streams.values()) {
      const found = waiting.get(knownId(deliveryId));
      if (found === undefined || found.leaseNumber !== Number(leaseNumber)) continue;
      found.settle({ kind: "recorded", error: outcome === "succeeded" ? null : (outcome as DeliveryError) });
      return;
    }
  }
}

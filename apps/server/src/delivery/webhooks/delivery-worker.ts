import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { DeliveryId, EndpointId } from "@assay/contract/ids";
import type { DeliveryError } from "@assay/contract/webhooks";
import type { Core } from "../../platform/core.ts";
import { isAboutData } from "../../platform/db/errors.ts";
import { isolateFailures } from "../../platform/db/isolate-failures.ts";
import type { Listener } from "../../platform/db/listener.ts";
import type { JobRows } from "../../platform/db/quarantine.ts";
import { later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { describeError } from "../../platform/lib/log.ts";
import {
  claimDue,
  type DueLook,
  deliveryChannel,
  endDeliveries,
  endScrubbed,
  findAllDue,
  findDueListeners,
  forgetAttempted,
  type LeasedDelivery,
  listDue,
  type Outlet,
  type OwnDelivery,
  quarantinedAs,
  releaseLease,
  releaseLeasesOf,
  takeDeliveriesOf,
  type Wanted,
} from "./delivery.store.ts";
import type { AttemptResult } from "./delivery.ts";
import type { Exchange } from "./exchange.ts";
import { type LaneLimits, Lanes, type LaneTicket } from "./lanes.ts";
import { type Finished, finish, recordResults } from "./record-results.ts";

export type SendableDelivery = LeasedDelivery & { payload: string };

export type Sent =
  | {
      kind: "answered";
      result: AttemptResult;
      durationMs: number;
      /** Null for a success, which needs no diagnosis. */
      exchange: Exchange | null;
    }
  /** The process that received the answer has recorded it. */
  | { kind: "recorded"; error: DeliveryError | null }
  /** No stream took it. It is sent later and has used no try. */
  | { kind: "put_back" };

/** How deliveries are sent: as requests to URLs, or through the streams of listeners. */
export type Sender = {
  limits: LaneLimits;
  /** Which deliveries it can send now. */
  outlet: () => Outlet;
  serves: (endpointId: EndpointId) => boolean;
  /** One attempt. Throws only for an internal fault. */
  send: (delivery: SendableDelivery, secrets: readonly string[], now: Date) => Promise<Sent>;
};

type Needs = Pick<Core, "config" | "db" | "clock" | "ring" | "log" | "quarantine" | "publicUrl">;

/** Figures for the metrics. */
export type DeliveryFigures = {
  countAttempt: (labels: { outcome: string }) => void;
  showOldestDue: (value: number, labels: { queue: string }) => void;
};

type Pump = { running: boolean; again: boolean };

export type DeliveryWorkerOptions = {
  /** Duration of a lease. Longer than any attempt can take, so that only a dead process loses one. */
  leaseMs?: number;
  pollMs?: number;
};

// Deliveries of one claim. Too few: a backlog needs many round trips. Too many: their payloads fill the
// memory while they wait for a slot.
const claimAtOnce = 64;
// Opening a connection takes a millisecond of the event loop: many at once would delay other endpoints.
const unprovenAtOnce = 8;
// Results of one statement. A batch that fails is halved until the bad result is alone.
const recordAtOnce = 64;
// Results wait this long to be written together, because each commit waits for the disk. If the process dies
// meanwhile, those deliveries are sent again.
const recordAfterMs = 5;
// An attempt that lasts longer takes a slow slot. Too small: ordinary receivers do. Too large: receivers that
// hang keep others waiting.
const slowAfterMs = 1000;
const retryAfterErrorMs = 500;
const forgetAfterMs = 10 * minuteMs;
const stopGraceMs = 5 * secondMs;
const settlePauseMs = 5;
const endAtOnce = 500;
// Looking although nothing is known to be due finds what a dead process was sending. Shorter: more queries of
// idle services. Longer: such deliveries wait longer.
const lookEveryMs = 5 * secondMs;

/**
 * Leases due deliveries (`for update skip locked`) in any number of processes, sends them, and records
 * results in batches. Notifications and due retries wake it. It also looks every few seconds, for leases of
 * dead processes and what lost notifications announced.
 */
export class DeliveryWorker {
  readonly #core: Needs;
  readonly #sender: Sender;
  readonly #leaseMs: number;
  readonly #pollMs: number;
  readonly #owner = randomUUID();
  readonly #lanes: Lanes;
  readonly #rows: JobRows;
  readonly #figures: DeliveryFigures;
  #finished: Finished[] = [];
  #recording: Promise<void> | null = null;
  #recordTimer: NodeJS.Timeout | undefined;
  readonly #prompt: Pump = { running: false, again: false };
  readonly #unproven: Pump = { running: false, again: false };
  #pollTimer: NodeJS.Timeout | undefined;
  /** When the next delivery comes due, as far as this process knows. */
  #nextDueAt: Date | null = null;
  /** By the clock of the process. 0: at the next poll. */
  #lookAgainAt = 0;
  #unsubscribe: () => void = () => {};
  #idle: (() => void)[] = [];
  #stopping = false;
  #abandoned = false;

  constructor(core: Needs, sender: Sender, figures: DeliveryFigures, options: DeliveryWorkerOptions = {}) {
    this.#core = core;
    this.#sender = sender;
    this.#rows = core.quarantine.rowsOf(quarantinedAs.job, quarantinedAs.kind);
    this.#figures = figures;
    this.#leaseMs = options.leaseMs ?? 30 * secondMs;
    this.#pollMs = options.pollMs ?? secondMs;
    this.#lanes = new Lanes(sender.limits);
  }

  get inFlight(): number {
    return this.#lanes.inFlight;
  }

  get slow(): number {
    return this.#lanes.slow;
  }

  /** Endpoints with deliveries that are due and wait for a slot. */
  get endpointsWaiting(): number {
    return this.#lanes.readyCount;
  }

  start(listener: Listener): void {
    this.#unsubscribe = listener.on(deliveryChannel, (payload) => this.#wake(payload));
    this.#pollLater(0);
  }

  #wake(payload: string): void {
    if (this.#stopping) return;
    // An empty payload: more endpoints than a notification can name, or notifications were lost.
    if (payload === "") {
      this.#lookAgainAt = 0;
      this.#pollLater(0);
    } else {
      for (const text of payload.split(",")) {
        const id = knownId<EndpointId>(text);
        if (this.#sender.serves(id)) this.#lanes.ready(id, false);
      }
      this.#pump();
    }
  }

  /** Something may be due for this endpoint, which the sender can serve only now. */
  look(endpointId: EndpointId): void {
    if (this.#stopping) return;
    this.#lanes.ready(endpointId, false);
    this.#pump();
  }

  // --- finding what is due ---------------------------------------------------------------------------------

  #pollLater(afterMs: number): void {
    clearTimeout(this.#pollTimer);
    if (this.#stopping) return;
    this.#pollTimer = setTimeout(() => void this.#poll(), afterMs);
    this.#pollTimer.unref();
  }

  async #poll(): Promise<void> {
    const startedAt = performance.now();
    try {
      const isDue = this.#nextDueAt !== null && this.#core.clock.now() >= this.#nextDueAt;
      if (isDue || performance.now() >= this.#lookAgainAt) await this.#discover();
    } catch (error) {
      this.#lookAgainAt = 0;
      this.#core.log.warn("could not look for due webhooks, will try again", describeError(error));
    }
    // Polling takes at most a twentieth of the time, however long a single look takes.
    this.#pollLater(Math.max(this.#pollMs, 20 * (performance.now() - startedAt)));
  }

  /** Marks the endpoints with due deliveries as ready in the lanes. Returns the number of endpoints. */
  async #discover(): Promise<number> {
    const { db, clock } = this.#core;
    const now = clock.now();
    const outlet = this.#sender.outlet();
    this.#nextDueAt = null;
    this.#lookAgainAt = performance.now() + lookEveryMs;
    const { endpoints: due, nextDueAt } = await this.#findDue(outlet, now);
    this.#expect(nextDueAt);
    const gone = due.filter((endpoint) => endpoint.enabled === null).map((endpoint) => endpoint.id);
    if (gone.length > 0) await this.#endThoseOf(gone, now);
    for (const endpoint of due)
      if (endpoint.enabled) this.#lanes.ready(endpoint.id, endpoint.failing ?? false);
    // Once for all processes is enough. Workers that send to URLs always run.
    if (outlet.kind === "url") {
      const waitedMs = due.map((endpoint) => now.getTime() - endpoint.dueAt.getTime());
      this.#figures.showOldestDue(Math.max(0, ...waitedMs) / 1000, { queue: "webhooks" });
      if (await this.#rows.hasAny())
        for (const id of await forgetAttempted(db, now)) this.#rows.tellHealed(id);
    }
    this.#lanes.forgetIdle(performance.now() - forgetAfterMs);
    this.#pump();
    return due.length;
  }

  /** The queues of listeners are few and cheap to read, so each poll reads them. */
  async #findDue(outlet: Outlet, now: Date): Promise<DueLook> {
    const { db } = this.#core;
    if (outlet.kind === "url") return findAllDue(db, now);
    const { streamIds } = outlet;
    const endpoints = streamIds.length === 0 ? [] : await findDueListeners(db, streamIds, now);
    return { endpoints, nextDueAt: now };
  }

  #expect(dueAt: Date | null): void {
    if (dueAt !== null && (this.#nextDueAt === null || dueAt < this.#nextDueAt)) this.#nextDueAt = dueAt;
  }

  async #endThoseOf(endpointIds: readonly EndpointId[], now: Date): Promise<void> {
    const some = () =>
      this.#rows.batch(endAtOnce, {
        take: (tx, among) => takeDeliveriesOf(tx, endpointIds, among),
        handle: (tx, rows) => endDeliveries(tx, rows, now),
      });
    while ((await some()).taken.length > 0 && !this.#stopping);
  }

  // --- claiming --------------------------------------------------------------------------------------------

  /** Prompt endpoints are claimed separately, so that they never wait for the claim of the others. */
  #pump(): void {
    this.#pumpOne(true);
    this.#pumpOne(false);
  }

  #pumpOne(proven: boolean): void {
    this.#run(proven ? this.#prompt : this.#unproven, () =>
      this.#claimAll(proven, proven ? claimAtOnce : unprovenAtOnce),
    );
  }

  #run(pump: Pump, claim: () => Promise<void>): void {
    if (pump.running) {
      pump.again = true;
      return;
    }
    if (this.#stopping) return;
    pump.running = true;
    void claim().finally(() => {
      pump.running = false;
      if (pump.again) {
        pump.again = false;
        this.#run(pump, claim);
      } else this.#noticeIdle();
    });
  }

  async #claimAll(proven: boolean, most: number): Promise<void> {
    const { log } = this.#core;
    while (!this.#stopping) {
      const wanted = this.#lanes.pick(proven, most);
      if (wanted.length === 0) return;
      let leased: LeasedDelivery[];
      try {
        leased = await this.#claim(wanted);
      } catch (error) {
        log.warn("could not claim due webhooks, will try again", describeError(error));
        for (const { endpointId, most } of wanted) this.#lanes.claimed(endpointId, most, 0);
        this.#lookAgainAt = 0;
        this.#pollLater(retryAfterErrorMs);
        return;
      }
      const byEndpoint = Map.groupBy(leased, (delivery) => delivery.endpointId);
      for (const { endpointId, most } of wanted) {
        const deliveries = byEndpoint.get(endpointId) ?? [];
        const tickets = this.#lanes.claimed(endpointId, most, deliveries.length);
        for (const [index, ticket] of tickets.entries()) {
          const delivery = deliveries[index];
          if (delivery !== undefined) void this.#deal(delivery, ticket);
        }
      }
      // The other claim may have found no slot, because this one had reserved more than it took.
      if (leased.length < wanted.reduce((sum, { most }) => sum + most, 0)) this.#pumpOne(!proven);
    }
  }

  /** One statement for all endpoints. If a delivery makes it fail, endpoint by endpoint. */
  async #claim(wanted: readonly Wanted[]): Promise<LeasedDelivery[]> {
    const { db, clock } = this.#core;
    const now = clock.now();
    const lease = { owner: this.#owner, now, until: later(now, this.#leaseMs) };
    const outlet = this.#sender.outlet();
    try {
      return await claimDue(db, outlet, wanted, lease);
    } catch (error) {
      if (!isAboutData(error)) throw error;
    }
    const leased: LeasedDelivery[] = [];
    for (const want of wanted)
      await this.#rows.isolate(await listDue(db, outlet, want, now), async (some) =>
        leased.push(...(await claimDue(db, outlet, [want], lease, some.map(idOf)))),
      );
    return leased;
  }

  // --- sending ---------------------------------------------------------------------------------------------

  #deal(delivery: LeasedDelivery, ticket: LaneTicket): Promise<void> {
    const { payload } = delivery;
    return payload === null ? this.#end(delivery, ticket) : this.#send({ ...delivery, payload }, ticket);
  }

  /** Its payload was scrubbed while a process sent it that died before it could record the end. */
  async #end(delivery: LeasedDelivery, ticket: LaneTicket): Promise<void> {
    const { db, clock } = this.#core;
    try {
      await endScrubbed(db, [delivery], clock.now());
      this.#lanes.finished(ticket, true);
    } catch (error) {
      await this.#putBack(delivery, error);
      this.#lanes.finished(ticket, false);
    }
    this.#pump();
  }

  async #send(delivery: SendableDelivery, ticket: LaneTicket): Promise<void> {
    const { clock } = this.#core;
    const slowTimer = setTimeout(() => {
      this.#lanes.slowed(ticket);
      this.#pump();
    }, slowAfterMs);
    const startedAt = clock.now();
    try {
      const sent = await this.#sender.send(delivery, this.#secretsOf(delivery), startedAt);
      if (this.#abandoned) return;
      if (sent.kind === "put_back") {
        await this.#release(delivery);
        this.#lanes.finished(ticket, true);
      } else {
        const { error } = sent.kind === "answered" ? sent.result : sent;
        this.#figures.countAttempt({ outcome: error ?? "succeeded" });
        this.#lanes.finished(ticket, error === null);
        if (sent.kind === "answered") this.#keep(delivery, sent, startedAt);
      }
    } catch (error) {
      // Only internal faults end here, such as a key that is missing in the key ring. The delivery is sent
      // later and has used no try.
      await this.#putBack(delivery, error);
      this.#lanes.finished(ticket, false);
    } finally {
      clearTimeout(slowTimer);
    }
    this.#pump();
  }

  /** Releases the lease of a delivery that could not be prepared. If that fails too, the lease runs out. */
  async #putBack(delivery: LeasedDelivery, error: unknown): Promise<void> {
    const { db, clock, log } = this.#core;
    try {
      await this.#rows.quarantine(delivery, error);
      await releaseLease(db, this.#owner, delivery, clock.now());
    } catch (failure) {
      log.warn("could not quarantine a webhook that cannot be prepared", describeError(failure));
    }
  }

  /** Releases the lease of a delivery that no stream took. If that fails, the lease runs out. */
  async #release(delivery: LeasedDelivery): Promise<void> {
    const { db, clock, log } = this.#core;
    await releaseLease(db, this.#owner, delivery, clock.now()).catch((error) =>
      log.warn("could not release a webhook lease; it will expire", describeError(error)),
    );
  }

  #secretsOf(delivery: LeasedDelivery): readonly string[] {
    const { signingSecret, previousSigningSecret, endpointId } = delivery;
    return [signingSecret, previousSigningSecret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => this.#core.ring.openText("webhook-secret", sealed, endpointId));
  }

  // --- recording -------------------------------------------------------------------------------------------

  #keep(delivery: LeasedDelivery, sent: Extract<Sent, { kind: "answered" }>, attemptedAt: Date): void {
    const now = this.#core.clock.now();
    const { durationMs, exchange } = sent;
    const finished = finish(delivery, sent.result, { attemptedAt, durationMs, exchange }, now);
    this.#expect(finished.next.nextAttemptAt);
    this.#finished.push(finished);
    this.#recordTimer ??= setTimeout(() => this.#record(), recordAfterMs);
  }

  #record(): void {
    clearTimeout(this.#recordTimer);
    this.#recordTimer = undefined;
    if (this.#recording !== null || this.#finished.length === 0) return;
    const batch = this.#finished.splice(0, recordAtOnce);
    // If a part of a batch was written, the repeated results find their leases gone and are dropped.
    this.#recording = this.#write(batch)
      .catch((error) => {
        if (!isAboutData(error)) throw error;
        return isolateFailures(batch, {
          process: (some) => this.#write(some),
          quarantine: ({ delivery }, failure) => this.#rows.quarantine(delivery, failure),
        });
      })
      .catch((error) => {
        this.#core.log.warn("could not record results of webhooks, will try again", describeError(error));
        this.#finished.unshift(...batch);
        return new Promise<void>((resolve) => setTimeout(resolve, retryAfterErrorMs));
      })
      .finally(() => {
        this.#recording = null;
        if (this.#finished.length > 0 && !this.#abandoned) this.#record();
        else this.#noticeIdle();
      });
  }

  async #write(batch: readonly Finished[]): Promise<void> {
    await this.#core.db.transaction((tx) => recordResults(this.#core, tx, this.#owner, batch));
  }

  // --- stopping --------------------------------------------------------------------------------------------

  get #isIdle(): boolean {
    return (
      !this.#prompt.running &&
      !this.#unproven.running &&
      this.#recording === null &&
      this.#finished.length === 0 &&
      this.#lanes.inFlight === 0 &&
      (this.#stopping || this.#lanes.readyCount === 0)
    );
  }

  #noticeIdle(): void {
    if (this.#idle.length === 0 || !this.#isIdle) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #untilIdle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Sends everything that is due now and waits for the results. */
  async settle(): Promise<void> {
    while (!this.#stopping) {
      const due = await this.#discover();
      await this.#untilIdle();
      if (due === 0) return;
      // A delivery that another process is claiming at this moment shows as due and cannot be claimed.
      await wait(settlePauseMs);
    }
  }

  /** Stops claiming, gives attempts in flight a moment to finish, and returns the remaining leases. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#unsubscribe();
    clearTimeout(this.#pollTimer);
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopGraceMs);
    });
    await Promise.race([this.#untilIdle(), grace]);
    clearTimeout(timer);
    this.#abandoned = true;
    for (const resolve of this.#idle.splice(0)) resolve();
    await this.#recording;
    await releaseLeasesOf(this.#core.db, this.#owner, this.#core.clock.now()).catch((error) =>
      this.#core.log.warn("could not release the webhook leases; they will expire", describeError(error)),
    );
  }
}

function idOf(delivery: OwnDelivery): DeliveryId {
  return delivery.id;
}

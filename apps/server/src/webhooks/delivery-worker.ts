import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { DeliveryId, EndpointId } from "@assay/contract/ids";
import { recordAudit, systemActor } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { isAboutData } from "../db/db.ts";
import { isolateFailures } from "../db/isolate-failures.ts";
import type { Listener } from "../db/listener.ts";
import type { JobRows } from "../db/set-aside.ts";
import { later, minuteMs, secondMs } from "../kernel/clock.ts";
import { knownId, newId } from "../kernel/ids.ts";
import { describeError } from "../lib/log.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import {
  claimDue,
  deliveryChannel,
  endDeliveries,
  endDeliveriesOf,
  endScrubbed,
  findDueEndpoints,
  findNewlyDueEndpoints,
  forgetAttempted,
  type LeasedDelivery,
  listDue,
  type OwnDelivery,
  type RecordedAttempt,
  recordAttempts,
  releaseLease,
  releaseLeasesOf,
  setAsideAs,
  takeDeliveriesOf,
  type Wanted,
} from "./delivery.store.ts";
import { type AttemptResult, afterAttempt, disabledBy } from "./delivery.ts";
import { disableEndpoint, markFailing, markSucceeding } from "./endpoint.store.ts";
import { Lanes, limitsFor, type Ticket } from "./lanes.ts";
import { mailEndpointDisabled } from "./notify-owners.ts";
import { type SendableDelivery, type SentAttempt, sendDelivery } from "./send-delivery.ts";

type Finished = {
  delivery: LeasedDelivery;
  result: AttemptResult;
  record: RecordedAttempt;
};

type Pump = { running: boolean; again: boolean };

export type DeliveryWorkerOptions = {
  /** Duration of a lease. Longer than any attempt can take, so that only a dead process loses one. */
  leaseMs?: number;
  pollMs?: number;
};

const claimAtOnce = 64;
// Opening a connection costs a millisecond of the event loop: opening many at once would delay the endpoints whose
// connection is open already.
const unprovenAtOnce = 8;
const recordAtOnce = 64;
const recordWhen = 32;
const recordAfterMs = 5;
const slowAfterMs = 1000;
const retryAfterErrorMs = 500;
const forgetAfterMs = 10 * minuteMs;
const stopGraceMs = 5 * secondMs;
const settlePauseMs = 5;
const endAtOnce = 500;
// How far each look reaches back before the previous one. A transaction may commit seconds after the time that it
// wrote, and clocks of machines differ; what is later than this is found when every queue is looked at.
const overlapMs = 10 * secondMs;
// What a dead process was sending is found by looking everywhere. At half of this it comes back two seconds sooner and idle services ask twice as
// often; at twice as much it waits for up to forty seconds. The look never takes more than a fiftieth of the time, however many queues there are.
const lookEverywhereMs = 5 * secondMs;
const lookEverywhereShare = 50;

/**
 * Sends what is due. Runs in any number of processes: each leases deliveries in the database (`for update skip
 * locked`), sends them, and records the results in batches. Notifications wake it; polling once a second catches what
 * they miss: retries that come due, leases of dead processes, notifications lost with a connection.
 */
export class DeliveryWorker {
  readonly #core: Core;
  readonly #safeFetch: SafeFetch;
  readonly #leaseMs: number;
  readonly #pollMs: number;
  readonly #owner = randomUUID();
  readonly #lanes: Lanes;
  readonly #rows: JobRows;
  readonly #showOldestDue: (value: number, labels: { queue: string }) => void;
  readonly #secrets = new Map<EndpointId, { sealed: Buffer; secret: string }>();
  readonly #countAttempt: (labels: { outcome: string }) => void;
  #finished: Finished[] = [];
  #recording: Promise<void> | null = null;
  #recordTimer: NodeJS.Timeout | undefined;
  readonly #prompt: Pump = { running: false, again: false };
  readonly #unproven: Pump = { running: false, again: false };
  #pollTimer: NodeJS.Timeout | undefined;
  #lookedUntil: Date | null = null;
  #lookEverywhereAt = 0;
  #unsubscribe: () => void = () => {};
  #idle: (() => void)[] = [];
  #stopping = false;
  #abandoned = false;

  constructor(
    core: Core,
    safeFetch: SafeFetch,
    showOldestDue: (value: number, labels: { queue: string }) => void,
    options: DeliveryWorkerOptions = {},
  ) {
    this.#core = core;
    this.#rows = core.setAside.rowsOf(setAsideAs.job, setAsideAs.kind);
    this.#showOldestDue = showOldestDue;
    this.#safeFetch = safeFetch;
    this.#leaseMs = options.leaseMs ?? 30 * secondMs;
    this.#pollMs = options.pollMs ?? secondMs;
    this.#lanes = new Lanes(limitsFor(core.config.webhookMaxInFlight));
    this.#countAttempt = core.metrics.counter(
      "assay_webhook_attempts_total",
      "Attempts to deliver a webhook, by what came of them.",
    );
    core.metrics.gaugeOf(
      "assay_webhook_in_flight",
      "Webhook attempts under way in this process.",
      () => this.#lanes.inFlight,
    );
    core.metrics.gaugeOf(
      "assay_webhook_slow_in_flight",
      "Webhook attempts under way for more than a second.",
      () => this.#lanes.slow,
    );
    core.metrics.gaugeOf(
      "assay_webhook_endpoints_waiting",
      "Endpoints with deliveries that are due and wait for room.",
      () => this.#lanes.readyCount,
    );
  }

  start(listener: Listener): void {
    this.#unsubscribe = listener.on(deliveryChannel, (payload) => this.#wake(payload));
    this.#pollLater(0);
  }

  #wake(payload: string): void {
    if (this.#stopping) return;
    // An empty payload: more endpoints than a notification can name, or notifications were lost.
    if (payload === "") {
      this.#lookedUntil = null;
      this.#pollLater(0);
    } else {
      for (const id of payload.split(",")) this.#lanes.ready(knownId(id), false);
      this.#pump();
    }
  }

  // --- looking around --------------------------------------------------------------------------------------------------

  #pollLater(afterMs: number): void {
    clearTimeout(this.#pollTimer);
    if (this.#stopping) return;
    this.#pollTimer = setTimeout(() => void this.#poll(), afterMs);
    this.#pollTimer.unref();
  }

  async #poll(): Promise<void> {
    const startedAt = performance.now();
    try {
      const from = this.#lookedUntil;
      const everywhere = from === null || performance.now() >= this.#lookEverywhereAt;
      await this.#discover(everywhere ? null : later(from, -overlapMs));
    } catch (error) {
      this.#lookedUntil = null;
      this.#core.log.warn("due webhooks could not be looked for, will try again", describeError(error));
    }
    // Polling takes at most a twentieth of the time, however long a single look takes.
    this.#pollLater(Math.max(this.#pollMs, 20 * (performance.now() - startedAt)));
  }

  /**
   * Tells the lanes which endpoints have deliveries due: over all queues, or only what came due after `after`.
   * Returns the number of endpoints.
   */
  async #discover(after: Date | null): Promise<number> {
    const { db, clock } = this.#core;
    const now = clock.now();
    const lookedAt = performance.now();
    const due =
      after === null ? await findDueEndpoints(db, now) : await findNewlyDueEndpoints(db, after, now);
    const gone = due.filter((endpoint) => endpoint.enabled === null).map((endpoint) => endpoint.id);
    if (gone.length > 0) await this.#endThoseOf(gone, now);
    for (const endpoint of due)
      if (endpoint.enabled) this.#lanes.ready(endpoint.id, endpoint.failing ?? false);
    if (after === null) {
      const tookMs = performance.now() - lookedAt;
      this.#lookEverywhereAt = performance.now() + Math.max(lookEverywhereMs, lookEverywhereShare * tookMs);
      const waitedMs = due.map((endpoint) => now.getTime() - endpoint.due_at.getTime());
      this.#showOldestDue(Math.max(0, ...waitedMs) / 1000, { queue: "webhooks" });
      for (const id of await forgetAttempted(db, now)) this.#rows.tellHealed(id);
    }
    this.#lookedUntil = now;
    this.#lanes.forgetIdle(performance.now() - forgetAfterMs);
    if (this.#secrets.size > 2 * this.#lanes.knownCount + 1000) this.#secrets.clear();
    this.#pump();
    return due.length;
  }

  async #endThoseOf(endpointIds: readonly EndpointId[], now: Date): Promise<void> {
    try {
      await this.#core.db.transaction((tx) => endDeliveriesOf(tx, endpointIds, now));
    } catch (error) {
      if (!isAboutData(error)) throw error;
      const some = () =>
        this.#rows.batch(endAtOnce, {
          take: (tx, among) => takeDeliveriesOf(tx, endpointIds, among),
          handle: (tx, rows) => endDeliveries(tx, rows, now),
        });
      while ((await some()).taken.length > 0 && !this.#stopping);
    }
  }

  // --- claiming --------------------------------------------------------------------------------------------------------

  /** Prompt endpoints get a claim of their own, so that they never wait for the claim of the others. */
  #pump(): void {
    this.#run(this.#prompt, () => this.#claimAll(true, claimAtOnce));
    this.#run(this.#unproven, () => this.#claimAll(false, unprovenAtOnce));
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
        log.warn("due webhooks could not be claimed, will try again", describeError(error));
        for (const { endpointId, most } of wanted) this.#lanes.claimed(endpointId, most, 0);
        this.#lookedUntil = null;
        this.#pollLater(retryAfterErrorMs);
        return;
      }
      const byEndpoint = Map.groupBy(leased, (delivery) => delivery.endpoint_id);
      for (const { endpointId, most } of wanted) {
        const deliveries = byEndpoint.get(endpointId) ?? [];
        const tickets = this.#lanes.claimed(endpointId, most, deliveries.length);
        for (const [index, ticket] of tickets.entries()) {
          const delivery = deliveries[index];
          if (delivery !== undefined) void this.#deal(delivery, ticket);
        }
      }
    }
  }

  /** One statement for all of the endpoints. When a delivery refuses it, endpoint by endpoint and then one by one. */
  async #claim(wanted: readonly Wanted[]): Promise<LeasedDelivery[]> {
    const { db, clock } = this.#core;
    const now = clock.now();
    const lease = { owner: this.#owner, now, until: later(now, this.#leaseMs) };
    try {
      return await claimDue(db, wanted, lease);
    } catch (error) {
      if (!isAboutData(error)) throw error;
    }
    const leased: LeasedDelivery[] = [];
    await isolateFailures(wanted, {
      process: async (some) => leased.push(...(await claimDue(db, some, lease))),
      setAside: async (want) =>
        this.#rows.isolate(await listDue(db, want, now), async (some) =>
          leased.push(...(await claimDue(db, [want], lease, some.map(idOf)))),
        ),
    });
    return leased;
  }

  // --- sending ---------------------------------------------------------------------------------------------------------

  #deal(delivery: LeasedDelivery, ticket: Ticket): Promise<void> {
    const { payload } = delivery;
    return payload === null ? this.#end(delivery, ticket) : this.#send({ ...delivery, payload }, ticket);
  }

  /** A delivery that must not be sent any more, and whose process died before it could say so. */
  async #end(delivery: LeasedDelivery, ticket: Ticket): Promise<void> {
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

  async #send(delivery: SendableDelivery, ticket: Ticket): Promise<void> {
    const { clock } = this.#core;
    const slowTimer = setTimeout(() => {
      this.#lanes.slowed(ticket);
      this.#pump();
    }, slowAfterMs);
    const startedAt = clock.now();
    try {
      const sent = await sendDelivery(this.#safeFetch, delivery, this.#secretOf(delivery), startedAt);
      if (this.#abandoned) return;
      this.#countAttempt({ outcome: sent.error ?? "succeeded" });
      this.#lanes.finished(ticket, sent.error === null);
      this.#keep(delivery, sent, startedAt);
    } catch (error) {
      // Only faults of our own end here, such as a key ring without the needed key: the delivery is sent later
      // without using up a try.
      await this.#putBack(delivery, error);
      this.#lanes.finished(ticket, false);
    } finally {
      clearTimeout(slowTimer);
    }
    this.#pump();
  }

  /** Gives back the lease of a delivery that could not be prepared. Where that fails too, it runs out. */
  async #putBack(delivery: LeasedDelivery, error: unknown): Promise<void> {
    const { db, clock, log } = this.#core;
    try {
      await this.#rows.setAside(delivery, error);
      await releaseLease(db, this.#owner, delivery, clock.now());
    } catch (failure) {
      log.warn("a webhook that cannot be prepared could not be set aside", describeError(failure));
    }
  }

  #secretOf(delivery: LeasedDelivery): string {
    const known = this.#secrets.get(delivery.endpoint_id);
    if (known?.sealed.equals(delivery.signing_secret)) return known.secret;
    const secret = this.#core.ring.openText("webhook-secret", delivery.signing_secret, delivery.endpoint_id);
    this.#secrets.set(delivery.endpoint_id, { sealed: delivery.signing_secret, secret });
    return secret;
  }

  // --- recording -------------------------------------------------------------------------------------------------------

  #keep(delivery: LeasedDelivery, result: SentAttempt, attemptedAt: Date): void {
    const now = this.#core.clock.now();
    const next = afterAttempt(
      { triesUsed: delivery.tries_used, retentionHours: delivery.retention_hours },
      result,
      now,
      Math.random(),
    );
    this.#finished.push({
      delivery,
      result,
      record: {
        organizationId: delivery.organization_id,
        deliveryId: delivery.id,
        leaseNumber: delivery.lease_number,
        attemptId: newId("wha", attemptedAt),
        statusCode: result.statusCode,
        error: result.error,
        durationMs: result.durationMs,
        attemptedAt,
        exchange: result.exchange,
        status: next.status,
        nextAttemptAt: next.status === "pending" ? next.nextAttemptAt : null,
        scrub: next.status !== "pending" && next.scrub,
        payloadExpiresAt: next.status === "failed" && !next.scrub ? next.payloadExpiresAt : null,
      },
    });
    if (this.#finished.length >= recordWhen) this.#record();
    else this.#recordTimer ??= setTimeout(() => this.#record(), recordAfterMs);
  }

  #record(): void {
    clearTimeout(this.#recordTimer);
    this.#recordTimer = undefined;
    if (this.#recording !== null || this.#finished.length === 0) return;
    const batch = this.#finished.splice(0, recordAtOnce);
    // What is left of a batch of which a part was written finds its lease gone, and is dropped.
    this.#recording = this.#write(batch)
      .catch((error) => {
        if (!isAboutData(error)) throw error;
        return isolateFailures(batch, {
          process: (some) => this.#write(some),
          setAside: ({ delivery }, failure) => this.#rows.setAside(delivery, failure),
        });
      })
      .catch((error) => {
        this.#core.log.warn(
          "results of webhooks could not be recorded, will try again",
          describeError(error),
        );
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
    const { db, clock } = this.#core;
    const now = clock.now();
    const records = batch.map((entry) => entry.record);
    const failed = batch.filter(({ result }) => result.error !== null);
    const recovered = batch.filter(
      ({ result, delivery }) => result.error === null && delivery.failing_since !== null,
    );
    if (failed.length === 0 && recovered.length === 0) {
      await recordAttempts(db, this.#owner, records, now);
      return;
    }
    await db.transaction(async (tx) => {
      await recordAttempts(tx, this.#owner, records, now);
      // Failures are recorded before successes, so that an endpoint with both in one batch ends up as working.
      if (failed.length > 0) await markFailing(tx, endpointIdsOf(failed), now);
      if (recovered.length > 0) await markSucceeding(tx, endpointIdsOf(recovered));
      for (const { delivery, result } of failed) {
        const reason = disabledBy(result, delivery.failing_since, now);
        if (reason === null) continue;
        const notice = await disableEndpoint(
          tx,
          delivery.organization_id,
          delivery.endpoint_id,
          delivery.url,
          reason,
          now,
        );
        if (notice === null) continue;
        await recordAudit(tx, now, {
          organizationId: notice.organization_id,
          event: "webhook_endpoint.disabled",
          actor: systemActor,
          targetId: notice.id,
          details: { reason },
        });
        await mailEndpointDisabled(this.#core, tx, notice, reason);
      }
    });
  }

  // --- coming to rest --------------------------------------------------------------------------------------------------

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
      const due = await this.#discover(null);
      await this.#untilIdle();
      if (due === 0) return;
      // A delivery that another process is claiming at this moment shows as due and cannot be claimed.
      await wait(settlePauseMs);
    }
  }

  /** Stops claiming, gives attempts under way a moment to finish, and returns the remaining leases. */
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
      this.#core.log.warn("webhook leases could not be given back; they run out", describeError(error)),
    );
  }
}

function idOf(delivery: OwnDelivery): DeliveryId {
  return delivery.id;
}

function endpointIdsOf(entries: readonly Finished[]): EndpointId[] {
  return [...new Set(entries.map(({ delivery }) => delivery.endpoint_id))].sort();
}

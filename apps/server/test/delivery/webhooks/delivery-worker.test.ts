import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { type TestContext } from "node:test";
import type { EndpointId } from "@assay/contract/ids";
import type { DeliveryError } from "@assay/contract/webhooks";
import type { Outlet } from "../../../src/delivery/webhooks/delivery.store.ts";
import {
  type DeliveryFigures,
  DeliveryWorker,
  type SendableDelivery,
  type Sent,
} from "../../../src/delivery/webhooks/delivery-worker.ts";
import type { LaneLimits } from "../../../src/delivery/webhooks/lanes.ts";
import { type NewEvent, publishEvents } from "../../../src/delivery/webhooks/publish-event.ts";
import { showDeliveries } from "../../../src/delivery/webhooks/show-deliveries.ts";
import type { Listener } from "../../../src/platform/db/listener.ts";
import { Sql, sql } from "../../../src/platform/db/sql.ts";
import { hourMs, later, minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { Metrics } from "../../../src/platform/lib/metrics.ts";
import { createPartner } from "../../support/api.ts";
import { createReceivingEndpoint } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

/** One worker on a real queue. The test is its sender, its notifications, its timers and its stopwatch. */
const { api, clock, core, logLines } = await startTestService({
  role: "api",
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { pollMs: hourMs },
});
const { db } = core;
const partner = await createPartner(api);

const pollMs = 7 * minuteMs;
const slowAfterMs = secondMs;
const retryMs = 500;
const graceMs = 5 * secondMs;
const lookEveryMs = 5 * secondMs;
const wide: LaneLimits = { maxYoung: 64, maxYoungUnproven: 64, maxSlow: 64, maxPerEndpoint: 64 };

const answered = (
  statusCode: number,
  error: DeliveryError | null,
  retryAfter: string | null = null,
): Sent => ({
  kind: "answered",
  result: { statusCode, error, retryAfter },
  durationMs: 1,
  exchange: null,
});
const succeeded = answered(200, null);
const failed = (afterSeconds: number) => answered(503, "status_not_2xx", String(afterSeconds));

/** The same object. `look` gets the first argument of each method before it runs, and may refuse the call. */
function watched<T extends object>(target: T, look: (given: unknown) => void): T {
  return new Proxy(target, {
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        try {
          look(given[0]);
        } catch (error) {
          return Promise.reject(error);
        }
        return value.apply(target, given);
      };
    },
  });
}

/** The longer timers of the worker run when the test says so, and the time that it measures stands still. */
function holdTime(t: TestContext) {
  // Other code of this process keeps its time: it would take a step back after the test.
  const isOfWorker = () => /\/(?:delivery-worker|lanes)\.ts/.test(new Error().stack ?? "");
  const isHeld = (ms: number) => ms >= retryMs && isOfWorker();
  const measured = performance.now.bind(performance);
  const held = new Map<unknown, { ms: number; run: () => void }>();
  const { clearTimeout: clear } = globalThis;
  const start = globalThis.setTimeout as (run: () => void, ms: number, ...rest: unknown[]) => NodeJS.Timeout;
  const time = { ms: 1_000_000 };
  t.mock.method(performance, "now", () => (isOfWorker() ? time.ms : measured()));
  t.mock.method(globalThis, "setTimeout", (run: () => void, ms: number, ...rest: unknown[]) => {
    if (!isHeld(ms)) return start(run, ms, ...rest);
    const timer = start(() => {}, hourMs).unref();
    held.set(timer, { ms, run });
    return timer;
  });
  t.mock.method(globalThis, "clearTimeout", (timer: NodeJS.Timeout) => {
    held.delete(timer);
    clear(timer);
  });
  const count = (ms: number) => [...held.values()].filter((timer) => timer.ms === ms).length;
  const fire = (ms: number) => {
    for (const [key, timer] of [...held]) {
      if (timer.ms !== ms) continue;
      held.delete(key);
      timer.run();
    }
  };
  return { time, count, fire };
}

type Settings = {
  limits?: LaneLimits;
  outlet?: Outlet;
  serves?: (endpointId: EndpointId) => boolean;
};

/** Once for each test: a second one would leave the timers of the first in place. */
async function openWorker(t: TestContext, settings: Settings = {}) {
  await db.run(sql`delete from webhook_delivery_queue`);
  const timers = holdTime(t);
  const sent: SendableDelivery[] = [];
  const waiting: ((answer: Sent) => void)[] = [];
  let answer: (delivery: SendableDelivery) => Sent | Promise<Sent> = () => succeeded;
  const counted: string[] = [];
  const shown: unknown[] = [];
  const figures: DeliveryFigures = {
    countAttempt: ({ outcome }) => counted.push(outcome),
    showOldestDue: (...given) => shown.push(given),
  };
  /** `fails`: the next statement with this text does, or the next transaction. `takesMs`: each one, in measured time. */
  const calls = { looks: 0, statements: 0, fails: "none", takesMs: 0 };
  const watchedDb = watched(db, (statement) => {
    calls.statements += 1;
    timers.time.ms += calls.takesMs;
    const text = statement instanceof Sql ? statement.text : "a transaction";
    if (!text.includes(calls.fails)) return;
    calls.fails = "none";
    throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
  });
  const worker = new DeliveryWorker(
    { ...core, db: watchedDb },
    {
      limits: settings.limits ?? wide,
      outlet: () => {
        calls.looks += 1;
        return settings.outlet ?? { kind: "url" };
      },
      serves: settings.serves ?? (() => true),
      send: async (delivery) => {
        sent.push(delivery);
        return answer(delivery);
      },
    },
    figures,
    { pollMs },
  );
  let handler: ((payload: string) => void) | null = null;
  const listener = {
    on: (_channel: string, added: (payload: string) => void) => {
      handler = added;
      return () => {
        handler = null;
      };
    },
  } as unknown as Listener;
  /** A notification, as another process sends it. What it causes has begun when this returns. */
  const notify = async (payload: string) => {
    handler?.(payload);
    if (payload === "") await until("the look is over", () => timers.count(pollMs) > 0);
  };
  let stopping: Promise<void> | null = null;
  t.after(async () => {
    for (const resolve of waiting.splice(0)) resolve({ kind: "put_back" });
    answer = () => ({ kind: "put_back" });
    await (stopping ?? worker.stop());
  });
  return {
    ...timers,
    worker,
    sent,
    counted,
    shown,
    calls,
    notify,
    isListening: () => handler !== null,
    idsSent: () => sent.map(({ endpointId }) => endpointId),
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    /** From now on answers wait for `release`. */
    hold: () => {
      answer = () => new Promise((resolve) => waiting.push(resolve));
    },
    release: (given: Sent) => {
      for (const resolve of waiting.splice(0)) resolve(given);
    },
    /** Starts it; its first look is over then. */
    start: async () => {
      worker.start(listener);
      await until("the first look is over", () => timers.count(pollMs) > 0);
    },
    stop: () => {
      stopping = worker.stop();
      return stopping;
    },
    poll: async () => {
      timers.fire(pollMs);
      await until("the look is over", () => timers.count(pollMs) > 0);
    },
    /** Until this many were sent in all, and their results are written. */
    untilSent: (count: number) =>
      until(`${count} were sent and recorded`, async () => {
        assert.ok(
          sent.length >= count || worker.inFlight > 0,
          `${sent.length} were sent, and no more will be`,
        );
        const leased = sql`select from webhook_delivery_queue where lease_owner is not null`;
        return sent.length >= count && worker.inFlight === 0 && (await db.rows(leased)).length === 0;
      }),
  };
}

const logged = (what: string) => logLines.filter((line) => line.includes(what)).length;

async function addEndpoint(): Promise<EndpointId> {
  return (await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook")).id;
}

/** Deliveries to one endpoint. The worker is not notified. */
async function queue(endpointId: EndpointId, count = 1, dueAt = clock.now()): Promise<void> {
  const events = Array.from({ length: count }, (): NewEvent => {
    const id = newId("vs", clock.now());
    return {
      session: {
        ...{ id, organizationId: partner.organizationId, sandbox: true },
        ...{ contractVersion: 1, clientReferenceId: null, webhookEndpointId: endpointId },
      },
      type: "verification.session.expired",
      data: { nfc_tries_used: 0, liveness_tries_used: 0, return_code_sha256: null },
    };
  });
  await db.transaction(async (tx) => {
    await publishEvents(core, tx, clock.now(), events);
    await tx.run(
      sql`update webhook_delivery_queue set due_at = ${dueAt} where endpoint_id = ${endpointId} and tries_used = 0`,
    );
  });
}

test("a notification wakes the queues that it names, an empty one all of them, and both at once", async (t) => {
  const [named, other, foreign] = [await addEndpoint(), await addEndpoint(), await addEndpoint()];
  const worker = await openWorker(t, { serves: (id) => id !== foreign });
  await worker.start();
  for (const id of [named, other, foreign]) await queue(id);
  await worker.notify(`${foreign},${named}`);
  await worker.untilSent(1);
  assert.deepEqual(worker.idsSent(), [named], "neither what was not named nor what it does not serve");
  await worker.notify("");
  await worker.untilSent(3);
  assert.deepEqual(worker.idsSent().slice(1).sort(), [other, foreign].sort());
});

test("an endpoint that can be served only now is looked at by name", async (t) => {
  const [named, other] = [await addEndpoint(), await addEndpoint()];
  const worker = await openWorker(t);
  for (const id of [named, other]) await queue(id);
  worker.worker.look(named);
  await worker.untilSent(1);
  assert.deepEqual(worker.idsSent(), [named]);
});

test("however many notifications ask for a look, one poll waits for its time", async (t) => {
  const worker = await openWorker(t);
  await worker.start();
  const looks = [worker.notify(""), worker.notify(""), worker.notify("")];
  assert.equal(worker.count(pollMs), 0, "the look that they ask for takes the place of the next one");
  await Promise.all(looks);
  assert.equal(worker.count(pollMs), 1);
  await worker.poll();
  assert.equal(worker.count(pollMs), 1);
});

test("a retry is looked for when the earliest one is due, and not before", async (t) => {
  const [first, second, third, good] = [
    await addEndpoint(),
    await addEndpoint(),
    await addEndpoint(),
    await addEndpoint(),
  ];
  const worker = await openWorker(t);
  await worker.start();
  const waits = new Map([
    [first, 60],
    [second, 20],
    [third, 40],
  ]);
  worker.answerWith(({ endpointId }) => {
    const seconds = waits.get(endpointId);
    return seconds === undefined ? succeeded : failed(seconds);
  });
  for (const [at, id] of [first, second, third, good].entries()) {
    await queue(id);
    await worker.notify(id);
    await worker.untilSent(at + 1);
  }
  worker.answerWith(() => succeeded);
  const begin = clock.now();
  for (const [at, [id, seconds]] of [...waits].sort(([, a], [, b]) => a - b).entries()) {
    clock.set(later(begin, seconds * secondMs - 1));
    const { looks } = worker.calls;
    await worker.poll();
    assert.equal(worker.calls.looks, looks, `no look before ${seconds} s`);
    clock.set(later(begin, seconds * secondMs));
    await worker.poll();
    await worker.untilSent(5 + at);
    assert.equal(worker.idsSent().at(-1), id);
  }
});

test("all queues are looked at every five seconds, whether something is known to be due or not", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  let count = 0;
  const foundAfter = async (ms: number) => {
    // No notification names it, like what a dead process was sending.
    await queue(endpoint, 1, later(clock.now(), -hourMs));
    worker.time.ms += ms - 1;
    await worker.poll();
    assert.equal(worker.worker.inFlight + worker.sent.length, count, `not before ${ms} ms`);
    worker.time.ms += 1;
    await worker.poll();
    count += 1;
    await worker.untilSent(count);
  };
  await foundAfter(lookEveryMs);
  await foundAfter(lookEveryMs);
});

test("of the endpoints new to a process those that are failing wait for the others", async (t) => {
  const [busy, failing, next] = [await addEndpoint(), await addEndpoint(), await addEndpoint()];
  await db.run(sql`update webhook_endpoints set failing_since = ${clock.now()} where id = ${failing}`);
  const worker = await openWorker(t, { limits: { ...wide, maxYoung: 4, maxYoungUnproven: 1 } });
  await worker.start();
  worker.hold();
  await queue(busy);
  await worker.notify(busy);
  await until("the slot is taken", () => worker.sent.length === 1);
  for (const id of [failing, next]) {
    await queue(id);
    worker.time.ms += lookEveryMs;
    await worker.poll();
  }
  assert.equal(worker.worker.endpointsWaiting, 2);
  worker.answerWith(() => succeeded);
  worker.release(succeeded);
  await worker.untilSent(3);
  assert.deepEqual(worker.idsSent(), [busy, next, failing]);
});

test("slots that the claim of prompt endpoints reserved and did not use go to the others at once", async (t) => {
  const [prompt, other] = [await addEndpoint(), await addEndpoint()];
  const worker = await openWorker(t, { limits: { ...wide, maxYoung: 1, maxYoungUnproven: 1 } });
  await worker.start();
  await queue(prompt);
  await worker.notify(prompt);
  await worker.untilSent(1);
  await queue(other);
  // Nothing is due for the first: another process may have sent it.
  await worker.notify(`${prompt},${other}`);
  await until("the other one is sent", () => worker.sent.length === 2);
  assert.deepEqual(worker.idsSent(), [prompt, other]);
  await worker.untilSent(2);
});

test("a lease that could not be returned runs out, and the delivery comes again", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  const faults: [log: string, answer: () => Sent][] = [
    ["could not release a webhook lease", () => ({ kind: "put_back" })],
    [
      "could not quarantine a webhook that cannot be prepared",
      () => {
        throw new Error("the secret does not open");
      },
    ],
  ];
  for (const [log, answer] of faults) {
    const before = worker.sent.length;
    worker.answerWith(() => {
      worker.calls.fails = "set lease_owner = null";
      return answer();
    });
    await queue(endpoint);
    await worker.notify(endpoint);
    await until("the lease could not be returned", () => logged(log) === 1);
    await until("its slot is free", () => worker.worker.inFlight === 0);
    assert.equal(
      (await db.rows(sql`select from webhook_delivery_queue where lease_owner is not null`)).length,
      1,
    );
    worker.answerWith(() => succeeded);
    clock.advance(30 * secondMs);
    await db.run(sql`delete from set_aside_rows`);
    worker.time.ms += lookEveryMs;
    await worker.poll();
    await worker.untilSent(before + 2);
  }
});

test("polling takes at most a twentieth of the time", async (t) => {
  const worker = await openWorker(t);
  await worker.start();
  worker.time.ms += lookEveryMs;
  worker.calls.takesMs = pollMs;
  worker.fire(pollMs);
  await until("the next poll waits", () => worker.count(20 * pollMs) > 0);
  assert.equal(worker.count(pollMs), 0);
});

test("a look that failed is repeated by the next poll, and finds what no one announced", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  // Something is due, so that the next poll looks, and fails.
  worker.answerWith(() => failed(30));
  await queue(endpoint);
  await worker.notify(endpoint);
  await worker.untilSent(1);
  clock.advance(30 * secondMs);
  worker.calls.fails = "min(due_at)";
  await worker.poll();
  assert.equal(worker.sent.length, 1);
  assert.equal(logged("could not look for due webhooks"), 1);
  worker.answerWith(() => succeeded);
  await queue(endpoint, 1, later(clock.now(), -hourMs));
  await worker.poll();
  await worker.untilSent(3);
});

test("an attempt that hangs leaves its slot to another endpoint after a second", async (t) => {
  const [hanging, next] = [await addEndpoint(), await addEndpoint()];
  const worker = await openWorker(t, { limits: { ...wide, maxYoung: 1, maxYoungUnproven: 1 } });
  const metrics = new Metrics();
  showDeliveries(metrics, worker.worker);
  const figures = () =>
    ["in_flight", "slow_in_flight", "endpoints_waiting"].map((name) => {
      const reading = metrics.readingOf(`assay_webhook_${name}`);
      return reading?.kind === "gauge" ? reading.values[0]?.value : undefined;
    });
  await worker.start();
  worker.hold();
  await queue(hanging);
  await worker.notify(hanging);
  await until("it hangs", () => worker.sent.length === 1);
  await queue(next);
  await worker.notify(next);
  assert.deepEqual(figures(), [1, 0, 1]);
  worker.fire(slowAfterMs);
  await until("the other one is sent", () => worker.sent.length === 2);
  assert.deepEqual(worker.idsSent(), [hanging, next]);
  assert.deepEqual(figures(), [2, 1, 0]);
  worker.release(succeeded);
  await worker.untilSent(2);
  assert.deepEqual(figures().slice(0, 2), [0, 0]);
  assert.equal(worker.count(slowAfterMs), 0, "no timer is left of an attempt that has ended");
});

test("an attempt is counted by its outcome, and one that no stream took is none and comes again", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  const answers: Sent[] = [
    { kind: "put_back" },
    { kind: "recorded", error: "timeout" },
    { kind: "recorded", error: null },
    failed(0),
    succeeded,
  ];
  for (const [at, answer] of answers.entries()) {
    worker.answerWith(() => answer);
    await db.run(sql`delete from webhook_delivery_queue`);
    await queue(endpoint);
    await worker.notify(endpoint);
    if (answer.kind !== "recorded") await worker.untilSent(at + 1);
    else await until("it is answered", () => worker.sent.length > at && worker.worker.inFlight === 0);
    const left = await db.rows(
      sql`select tries_used, lease_owner is null as free from webhook_delivery_queue`,
    );
    // What another process has recorded is left to that process.
    const expected = {
      put_back: [{ triesUsed: 0, free: true }],
      recorded: [{ triesUsed: 0, free: false }],
      answered: answer === succeeded ? [] : [{ triesUsed: 1, free: true }],
    };
    assert.deepEqual(left, expected[answer.kind]);
  }
  assert.deepEqual(worker.counted, ["timeout", "succeeded", "status_not_2xx", "succeeded"]);
});

test("the metrics show for how long the first delivery to a URL has been due", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await queue(endpoint, 1, later(clock.now(), -90 * secondMs));
  await worker.worker.settle();
  assert.deepEqual(worker.shown, [
    [90, { queue: "webhooks" }],
    [0, { queue: "webhooks" }],
  ]);
});

test("the metrics leave out what listeners wait for", async (t) => {
  const listeners = await openWorker(t, { outlet: { kind: "listener", streamIds: [randomUUID()] } });
  await listeners.worker.settle();
  assert.deepEqual(listeners.shown, []);
});

test("each poll reads the queues of open streams, and without a stream no statement is sent", async (t) => {
  const endpoint = await addEndpoint();
  const streamId = randomUUID();
  await db.run(sql`
    update webhook_endpoints set kind = 'listener', listener_stream_id = ${streamId} where id = ${endpoint}`);
  const streamIds: string[] = [];
  const worker = await openWorker(t, { outlet: { kind: "listener", streamIds } });
  await worker.start();
  await queue(endpoint);
  await worker.worker.settle();
  await worker.poll();
  assert.deepEqual([worker.calls.statements, worker.sent.length], [0, 0]);
  streamIds.push(streamId);
  await worker.poll();
  await worker.untilSent(1);
  assert.deepEqual(worker.idsSent(), [endpoint]);
});

test("how fast an endpoint answers is remembered for ten minutes", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  await queue(endpoint);
  await worker.notify(endpoint);
  await worker.untilSent(1);
  /** How many begin at once: one of an unknown endpoint, two after a prompt success. */
  const begin = async () => {
    const before = worker.sent.length;
    worker.hold();
    await queue(endpoint, 2);
    await worker.notify(endpoint);
    await until("some have begun", () => worker.sent.length > before);
    const count = worker.sent.length - before;
    worker.answerWith(() => succeeded);
    worker.release(succeeded);
    await worker.untilSent(before + 2);
    return count;
  };
  worker.time.ms += 10 * minuteMs;
  await worker.poll();
  assert.equal(await begin(), 2);
  worker.time.ms += 10 * minuteMs + 1;
  await worker.poll();
  assert.equal(await begin(), 1);
});

test("a success in the same batch as another endpoint's failure leaves its endpoint healthy", async (t) => {
  const [good, bad, mended] = [await addEndpoint(), await addEndpoint(), await addEndpoint()];
  await db.run(sql`update webhook_endpoints set failing_since = ${clock.now()} where id = ${mended}`);
  const worker = await openWorker(t);
  let mendedCount = 0;
  worker.answerWith(({ endpointId }) => {
    if (endpointId === mended) mendedCount += 1;
    return endpointId === bad || mendedCount === 1 ? failed(60) : succeeded;
  });
  for (const id of [good, bad]) await queue(id);
  await queue(mended, 2);
  await worker.worker.settle();
  const failing = await db.rows<{ id: EndpointId }>(sql`
    select id from webhook_endpoints where failing_since is not null and id = any(${[good, bad, mended]}::text[])`);
  assert.deepEqual(
    failing.map(({ id }) => id),
    [bad],
  );
});

test("a claim and a result that the database refused are tried again after half a second", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  await queue(endpoint);
  worker.calls.fails = "skip locked";
  await worker.notify(endpoint);
  await until("the claim has failed", () => worker.count(retryMs) > 0);
  assert.equal(logged("could not claim due webhooks"), 1);
  assert.deepEqual([worker.sent.length, worker.worker.inFlight], [0, 0]);
  worker.calls.fails = "a transaction";
  worker.fire(retryMs);
  await until("the result could not be written", () => worker.count(retryMs) > 0);
  assert.equal(logged("could not record results of webhooks"), 1);
  const left = () => db.rows(sql`select from webhook_delivery_queue`);
  assert.equal((await left()).length, 1);
  worker.fire(retryMs);
  await until("the result is written", async () => (await left()).length === 0);
  assert.equal(worker.sent.length, 1);
});

test("a stop sends nothing more and waits for what is on its way, whose result is written", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  worker.hold();
  await queue(endpoint, 3);
  await worker.notify(endpoint);
  await until("it is on its way", () => worker.sent.length === 1);
  const stopping = worker.stop();
  assert.deepEqual([worker.isListening(), worker.count(pollMs)], [false, 0]);
  worker.release(succeeded);
  await stopping;
  assert.equal(worker.count(graceMs), 0);
  worker.worker.look(endpoint);
  await worker.worker.settle();
  assert.equal(worker.sent.length, 1);
  const states = await db.rows(sql`
    select status, attempt_count from webhook_deliveries where endpoint_id = ${endpoint} order by status desc`);
  assert.deepEqual(states, [
    { status: "succeeded", attemptCount: 1 },
    { status: "pending", attemptCount: 0 },
    { status: "pending", attemptCount: 0 },
  ]);
});

test("a stop that has waited for five seconds returns the lease, and a later answer changes nothing", async (t) => {
  const endpoint = await addEndpoint();
  const worker = await openWorker(t);
  await worker.start();
  worker.hold();
  await queue(endpoint);
  await worker.notify(endpoint);
  await until("it is on its way", () => worker.sent.length === 1);
  const { leaseUntil } = await db.one<{ leaseUntil: Date }>(
    sql`select lease_until from webhook_delivery_queue`,
  );
  assert.deepEqual(leaseUntil, later(clock.now(), 30 * secondMs));
  const stopping = worker.stop();
  worker.fire(graceMs);
  await stopping;
  const row = () =>
    db.one(sql`
      select q.tries_used, q.lease_owner, q.lease_until, d.attempt_count
      from webhook_delivery_queue q join webhook_deliveries d on d.id = q.delivery_id`);
  const returned = { triesUsed: 0, leaseOwner: null, leaseUntil: null, attemptCount: 0 };
  assert.deepEqual(await row(), returned);
  worker.release(succeeded);
  await until("the answer was taken", () => worker.count(slowAfterMs) === 0);
  assert.deepEqual([await row(), worker.counted], [returned, []]);
});

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import test from "node:test";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ApiError } from "../kernel/api-error.ts";
import type { Caller } from "../kernel/caller.ts";
import { systemClock } from "../kernel/clock.ts";
import { createLog } from "../lib/log.ts";
import { Metrics } from "../lib/metrics.ts";
import { Admission } from "./admission.ts";
import { usualBodyBytes } from "./read-body.ts";

/** Of eight slots one tenant gets one and one address four. */
function watchedAdmission({ slots = 8, isSecure = false } = {}) {
  const logLines: string[] = [];
  const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) });
  const metrics = new Metrics();
  const admission = new Admission({
    log,
    metrics,
    clock: systemClock,
    isSecure: () => isSecure,
    slots,
    maxRequestsPerSecond: 1000,
  });
  const enter = (headers: Record<string, string>, ip: string, { body = "", isComplete = true } = {}) => {
    const length = body === "" ? {} : { "content-length": String(body.length) };
    const request = {
      ip,
      headers: { ...length, ...headers },
      raw: { complete: isComplete, read: () => Buffer.from(body) },
      routeOptions: { bodyLimit: 1 << 20 },
    } as unknown as FastifyRequest;
    const written: Record<string, string> = {};
    const timeouts: number[] = [];
    const raw = Object.assign(new EventEmitter(), {
      destroyed: false,
      writableEnded: false,
      setTimeout: (ms: number) => timeouts.push(ms),
    });
    const reply = {
      raw,
      header: (name: string, value: string) => {
        written[name] = value;
      },
    } as unknown as FastifyReply;
    const outcome: (ApiError | "started")[] = [];
    admission.admit(request, reply, (refusal) => outcome.push(refusal ?? "started"));
    const close = (isAnswered: boolean) => {
      raw.writableEnded = isAnswered;
      raw.emit("close");
    };
    return { request, reply, outcome, written, timeouts, close, isStarted: () => outcome[0] === "started" };
  };
  const figure = (name: string) =>
    Number(new RegExp(`^assay_admission_${name} (\\S+)$`, "m").exec(metrics.render())?.[1]);
  return { admission, enter, logLines, figure };
}

const key = (name: string) => ({ authorization: `Bearer ${name}` });
const ofOrganization = (organizationId: string) => ({ kind: "key", organizationId }) as unknown as Caller;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Whether two requests with these credentials, from two addresses, share the slot of one tenant. */
function shareSlot(
  enter: ReturnType<typeof watchedAdmission>["enter"],
  ...headers: Record<string, string>[]
) {
  const [first, second] = headers.map((each, i) => enter(each, `10.0.0.${i + 1}`));
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(first.isStarted());
  const isShared = !second.isStarted();
  for (const { close } of [second, first]) close(true);
  return isShared;
}

test("credentials count for whom they were last accepted, and for their address before and after that", () => {
  const { admission, enter } = watchedAdmission();
  const recordOwner = (name: string, caller: Caller | null) => {
    const request = enter(key(name), "10.0.0.9");
    admission.recordOwner(request.request, caller);
    request.close(true);
  };
  assert.ok(!shareSlot(enter, key("one"), key("two")));
  recordOwner("one", ofOrganization("acme"));
  recordOwner("two", ofOrganization("acme"));
  assert.ok(shareSlot(enter, key("one"), key("two")));
  recordOwner("two", ofOrganization("other"));
  assert.ok(!shareSlot(enter, key("one"), key("two")));
  recordOwner("two", ofOrganization("acme"));
  recordOwner("one", null);
  assert.ok(!shareSlot(enter, key("one"), key("two")), "it is not accepted any more");
});

test("a user counts for their organization, or for themselves where they have none", () => {
  const { admission, enter } = watchedAdmission();
  const user = (membership: object | null) =>
    ({ kind: "user", userId: "ann", membership }) as unknown as Caller;
  const cookie = { cookie: "assay_session=one" };
  const recordOwner = (headers: Record<string, string>, caller: Caller) => {
    const request = enter(headers, "10.0.0.9");
    admission.recordOwner(request.request, caller);
    request.close(true);
  };
  recordOwner(cookie, user(null));
  recordOwner(key("two"), user(null));
  assert.ok(shareSlot(enter, cookie, key("two")));
  recordOwner(key("two"), user({ organizationId: "acme" }));
  assert.ok(!shareSlot(enter, cookie, key("two")));
  recordOwner(key("three"), ofOrganization("acme"));
  assert.ok(shareSlot(enter, key("two"), key("three")));
});

test("on https the plain cookie is no credential", () => {
  const { admission, enter } = watchedAdmission({ isSecure: true });
  for (const name of ["assay_session", "__Host-assay_session"]) {
    const request = enter({ cookie: `${name}=x` }, "10.0.0.9");
    admission.recordOwner(request.request, ofOrganization("acme"));
    request.close(true);
  }
  const own = { cookie: "__Host-assay_session=x" };
  assert.ok(shareSlot(enter, own, own));
  assert.ok(!shareSlot(enter, { cookie: "assay_session=x" }, own));
});

test("ten thousand credentials are remembered, and of more the one that was learnt first is forgotten", () => {
  const { admission, enter } = watchedAdmission();
  const recordOwner = (name: string) => {
    const request = enter(key(name), "10.0.0.9");
    admission.recordOwner(request.request, ofOrganization(name));
    request.close(true);
  };
  for (let i = 0; i < 10_000; i++) recordOwner(String(i));
  assert.ok(shareSlot(enter, key("0"), key("0")));
  recordOwner("one more");
  assert.ok(!shareSlot(enter, key("0"), key("0")));
  assert.ok(shareSlot(enter, key("1"), key("1")));
});

test("a client that leaves gives up its wait; once it is worked for, its slot is free when the work is answered", () => {
  const { admission, enter } = watchedAdmission();
  const first = enter({}, "10.0.0.1");
  const waiting = enter({}, "10.0.0.1");
  const gone = enter({}, "10.0.0.1");
  gone.close(false);
  first.close(false);
  assert.ok(!waiting.isStarted(), "what is under way keeps its slot");
  admission.answered(first.request, first.reply);
  assert.ok(waiting.isStarted());
  assert.deepEqual([first.timeouts, gone.outcome], [[30_000], []]);
  const last = enter({}, "10.0.0.1");
  admission.releaseSlot(waiting.request);
  assert.ok(last.isStarted(), "one that only waits for others lets go before");
});

test("a request that was never admitted has no slot and no limit on its answer", () => {
  const { admission } = watchedAdmission();
  const timeouts: number[] = [];
  const request = { headers: {} } as unknown as FastifyRequest;
  const reply = { raw: { setTimeout: (ms: number) => timeouts.push(ms) } } as unknown as FastifyReply;
  admission.answered(request, reply);
  admission.recordOwner(request, ofOrganization("acme"));
  assert.deepEqual([timeouts, admission.bodyOf(request)], [[], null]);
});

test("the body is there to be read after the slot was given", async () => {
  const { admission, enter } = watchedAdmission();
  const request = enter({}, "10.0.0.1", { body: "text" });
  await turn();
  assert.ok(request.isStarted());
  const chunks: Buffer[] = [];
  for await (const chunk of admission.bodyOf(request.request) ?? []) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), "text");
  assert.equal(admission.bodyOf(enter({}, "10.0.0.2").request), null);
});

test("a body of more than the usual size does not wait: without a slot it is refused, and may come back soon", async () => {
  const { admission, enter, logLines, figure } = watchedAdmission();
  const usual = "x".repeat(usualBodyBytes);
  const held = enter({}, "10.0.0.1");
  assert.equal(admission.isOverloaded, false);
  const waits = enter({}, "10.0.0.1", { body: usual });
  const refused = [1, 2, 3].map(() => enter({}, "10.0.0.1", { body: `${usual}x` }));
  await turn();
  assert.deepEqual([waits.outcome, admission.isOverloaded], [[], true]);
  assert.deepEqual(["placed", "waiting", "reading", "overloaded"].map(figure), [1, 1, 0, 1]);
  assert.equal(figure('refused_total\\{reason="queue_full"\\}'), 3);
  const answers = refused.map(({ outcome: [answer] }) => (answer === "started" ? null : answer));
  assert.deepEqual(
    answers.map((answer) => answer?.code),
    Array(3).fill("SERVICE_UNAVAILABLE"),
  );
  assert.deepEqual(
    answers.map((answer) => answer?.headers["retry-after"]),
    ["2", "3", "1"],
    "those that were refused together do not come back together",
  );
  assert.equal(logLines.filter((line) => line.includes("overload")).length, 1, "said once");
  assert.deepEqual(
    refused[0]?.written,
    {},
    "its body was read, so its connection is good for the next request",
  );
  held.close(true);
  assert.ok(waits.isStarted());
  const free = enter({}, "10.0.0.2", { body: `${usual}x` });
  await turn();
  assert.ok(free.isStarted());
});

test("where the rest of a refused body is still to come, the connection ends with the answer", () => {
  const { enter } = watchedAdmission({ slots: 1 });
  enter({}, "10.0.0.1");
  const others = Array.from({ length: 33 }, () => enter({}, "10.0.0.1", { isComplete: false }));
  const [refused, next] = others;
  assert.equal(refused?.outcome[0] === "started" ? null : refused?.outcome[0]?.code, "SERVICE_UNAVAILABLE");
  assert.deepEqual([refused?.written, next?.outcome], [{ connection: "close" }, []]);
});

import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import test, { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { maxStreamsPerSession, streamHeartbeatSeconds } from "@assay/contract/verify";
import pg from "pg";
import { hourMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { reportProgress } from "../../../src/verification/attempts/report-progress.ts";
import { sessionChannel } from "../../../src/verification/sessions/end-session.ts";
import { Api, createPartner, expectData, expectError } from "../../support/api.ts";
import { createReceivingEndpoint } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { fail, judge, passChip, succeed } from "../../support/sessions.ts";
import { until } from "../../support/until.ts";
import { agree, claimWith, handOff, startVerification, takeSession } from "../../support/verify.ts";

const service = await startTestService({
  role: "api",
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const { api, clock, core, databaseUrl } = service;
/** Another process: the pages are connected to one, the devices to the other. */
const second = await startTestService({ databaseUrl, clock, role: "api" });
const partner = await createPartner(api);

type Event = { name: string; data: Record<string, any> };

/** A separate connection, as a browser's event source has one. */
function connect(url: string, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}${path}/events`, { agent: false }, resolve);
    request.once("error", reject);
    after(() => request.destroy());
  });
}

/** A page that follows a session. `next` gives the events one by one, and null once the stream has ended. */
async function follow(url: string, path: string) {
  const response = await connect(url, path);
  assert.equal(response.statusCode, 200);
  assert.match(response.headers["content-type"] ?? "", /^text\/event-stream/);
  assert.equal(response.headers["cache-control"], "no-store");
  const chunks = response.setEncoding("utf8")[Symbol.asyncIterator]() as AsyncIterator<string>;
  let text = "";
  const next = async (): Promise<Event | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const name = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (name !== undefined && data !== undefined) return { name, data: JSON.parse(data) };
        continue;
      }
      const { value, done } = await chunks.next();
      if (done) return null;
      text += value;
    }
  };
  /** Events until one fits; there may be others on the way. */
  const until = async (fits: (data: Event["data"]) => boolean): Promise<Event["data"]> => {
    for (;;) {
      const event = await next();
      assert.ok(event, "the stream ended before");
      assert.equal(event.name, "status");
      if (fits(event.data)) return event.data;
    }
  };
  return { next, until, close: () => response.destroy() };
}

test("a page sees consent, claim, every step and the outcome, whichever process they happen on", async () => {
  const { id, path } = await startVerification(partner.api);
  const page = await follow(service.url, path);
  const first = await page.next();
  assert.deepEqual(
    [first?.name, first?.data.session_id, first?.data.status, first?.data.consent_given],
    ["status", id, "created", false],
  );
  assert.deepEqual(first?.data, expectData(await api.get(`${path}/status`)));
  await agree(second.api, id);
  await page.until((status) => status.consent_given);
  const token = await handOff(second.api, id);
  const { attempt_id: attemptId } = expectData(await claimWith(second.api, id, token, "phone"), 201);
  const claimed = await page.until((status) => status.status === "in_progress");
  assert.deepEqual(claimed.attempt, { id: attemptId, step: null, heard_recently: true, refused: null });
  for (const step of ["chip", "chip_check", "face"]) {
    await reportProgress(second.core.db, { sessionId: id, attemptId, step, now: clock.now() });
    await page.until((status) => status.attempt?.step === step);
  }
  // A page that is loaded now begins where the device is.
  const late = await follow(second.url, path);
  assert.equal((await late.next())?.data.attempt.step, "face");
  await judge(second.core, id, attemptId, "face", 1, "liveness_failed");
  await succeed(second.core, id, attemptId);
  for (const each of [page, late]) {
    const ended = await each.until((status) => status.status === "succeeded");
    assert.deepEqual([ended.attempt, ended.tries.liveness_tries_left], [null, 1]);
    assert.equal(await each.next(), null, "the stream is closed");
  }
});

test("the status says that the result is sent once a delivery was queued for an endpoint with a key, and not otherwise", async () => {
  const sentTo = async (prepare: (caller: Api) => Promise<unknown>) => {
    const own = await createPartner(api);
    await prepare(own.api);
    const { id, path } = await startVerification(own.api);
    const isSent = async () => expectData(await api.get(`${path}/status`)).result_is_sent as boolean;
    const { attemptId } = await takeSession(api, id);
    assert.equal(await isSent(), false, "before the end");
    await passChip(core, id, attemptId, 1);
    await succeed(core, id, attemptId);
    return isSent();
  };
  const url = "https://127.0.0.1:9/hook";
  assert.equal(await sentTo(async () => {}), false, "no endpoint");
  assert.equal(
    await sentTo(async (caller) => expectData(await caller.post("/v1/webhooks/endpoints", { url }), 201)),
    false,
    "an endpoint without a key",
  );
  const others = { subscribed_event_types: ["verification.session.failed"] };
  assert.equal(
    await sentTo((caller) => createReceivingEndpoint(caller, url, others)),
    false,
    "not subscribed",
  );
  assert.equal(await sentTo((caller) => createReceivingEndpoint(caller, url)), true);
});

test("a page learns why the last try was refused, until one passes", async () => {
  const { id, path } = await startVerification(partner.api);
  const { attemptId } = await takeSession(api, id);
  const refused = async () => expectData(await api.get(`${path}/status`)).attempt.refused;
  await judge(core, id, attemptId, "chip", 1, "document_expired");
  assert.deepEqual(await refused(), { failure_code: "document_expired", unmet_requirement: null });
  await passChip(core, id, attemptId, 2);
  assert.equal(await refused(), null);
});

test("a step holds no more than its name, and an attempt that is over reports none", async () => {
  const { id, path } = await startVerification(partner.api);
  const { attemptId } = await takeSession(api, id);
  const report = (step: string, attempt = attemptId) =>
    reportProgress(core.db, { sessionId: id, attemptId: attempt, step, now: clock.now() });
  await assert.rejects(report("P<UTOERIKSSON<<ANNA"));
  await assert.rejects(report(""));
  await report("chip", newId("va", clock.now()));
  assert.equal(expectData(await api.get(`${path}/status`)).attempt.step, null);
  await report("chip");
  assert.equal(expectData(await api.get(`${path}/status`)).attempt.step, "chip");
  await fail(core, id, attemptId);
  await report("face");
  assert.equal(expectData(await api.get(`${path}/status`)).attempt, null);
});

test("an ended session gives its status and closes; so does one whose hour is over", async () => {
  const { id, path, cancelToken } = await startVerification(partner.api);
  expectData(await api.post(`${path}/cancel`, { cancel_token: cancelToken }));
  const page = await follow(service.url, path);
  assert.equal((await page.next())?.data.status, "cancelled");
  assert.equal(await page.next(), null);

  const expiring = await startVerification(partner.api);
  const watching = await follow(service.url, expiring.path);
  assert.equal((await watching.next())?.data.status, "created");
  clock.advance(hourMs);
  await core.db.notifyNow(sessionChannel, expiring.id);
  assert.equal((await watching.until((status) => status.status === "expired")).session_id, expiring.id);
  assert.equal(await watching.next(), null);
  assert.ok(id);
});

test("an open page hears of the expiry at its moment, although nothing announces it", async () => {
  const { path } = await startVerification(partner.api);
  clock.advance(hourMs - 50);
  const page = await follow(service.url, path);
  assert.equal((await page.next())?.data.status, "created");
  clock.advance(50);
  // On its own the process reads only as often as it sends a heartbeat.
  const late = wait(streamHeartbeatSeconds * secondMs - 1000, null, { ref: false });
  assert.equal((await Promise.race([page.next(), late]))?.data.status, "expired");
});

test("a page is sent a status once, however often it is read", async () => {
  const { id, path } = await startVerification(partner.api);
  const page = await follow(service.url, path);
  assert.equal((await page.next())?.data.consent_given, false);
  // One read served both pages.
  const other = await follow(service.url, path);
  await other.next();
  await agree(api, id);
  assert.equal((await page.next())?.data.consent_given, true);
});

test("a device that takes over a session is announced to pages and to the old device", async (t) => {
  const { id } = await startVerification(partner.api);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  t.after(() => client.end());
  const heard: string[] = [];
  const marked = Promise.withResolvers<void>();
  client.on("notification", ({ payload = "" }) => {
    if (payload === "mark") marked.resolve();
    else heard.push(payload);
  });
  const { cancel_token: cancelToken } = await agree(api, id);
  for (const device of ["phone", "tablet"]) {
    const token = await handOff(api, id, device === "phone" ? undefined : cancelToken);
    if (device === "tablet") await client.query(`listen ${sessionChannel}`);
    expectData(await claimWith(api, id, token, device), 201);
  }
  // Notifications arrive in the order of their transactions, so after this one no earlier one is on its way.
  await core.db.notifyNow(sessionChannel, "mark");
  await marked.promise;
  assert.ok(heard.includes(id), "the tablet has taken over");
});

test("a session has a bounded number of streams, and a page that leaves makes room", async () => {
  const { path } = await startVerification(partner.api);
  const other = await startVerification(partner.api);
  // Each process counts its streams, so all pages are at one of them. Another one would have room, and a
  // stream has no end to wait for.
  const [{ url }] = service.machines;
  const pages = [];
  for (let i = 0; i < maxStreamsPerSession; i++) {
    const page = await follow(url, path);
    await page.next();
    pages.push(page);
  }
  const refused = await new Api(url).get(`${path}/events`);
  expectError(refused, 429, "RATE_LIMITED");
  assert.ok(refused.headers.get("retry-after"));
  await (await follow(url, other.path)).next();
  pages[0]?.close();
  // The service notices it when the connection closes, which takes a moment.
  await until("the place was given back", async () => {
    const response = await connect(url, path);
    response.destroy();
    return response.statusCode === 200;
  });
});

test("streams hold no database connection, and a stopping process closes them", async () => {
  const third = await startTestService({
    databaseUrl,
    clock,
    role: "api",
    env: { DATABASE_POOL_SIZE: "2" },
  });
  const pages = [];
  for (let i = 0; i < 12; i++) {
    const { path } = await startVerification(partner.api);
    const page = await follow(third.url, path);
    assert.equal((await page.next())?.data.status, "created");
    pages.push(page);
  }
  await third.service.close();
  for (const page of pages) assert.equal(await page.next(), null);
});

import assert from "node:assert/strict";
import { Agent, get, type IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import { sendFiles } from "@assay/device/send-artifacts";
import { DatabaseClock } from "../../../src/platform/db/database-clock.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs } from "../../../src/platform/kernel/clock.ts";
import type { FaceJudge } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createTestDatabase } from "../../support/database.ts";
import { startTestService } from "../../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

const faceJudge: FaceJudge = {
  begin: () => ({ movements: ["turn_left"], colours: ["blue"], colourMs: 900, deadlineMs: 20_000 }),
  close: async () => {},
  follow: () => new FaceSitting(() => null),
  judge: async () => ({ kind: "failed", code: "liveness_failed", reasons: [] }),
};
const verify = { faceJudge, examiner: { threads: 1 } };
/** The remaining process. It does no background work that could hide what the other one does. */
const other = await startTestService({ verify, role: "api" });
const partner = await createPartner(other.api);
const valid = testDocument("passport-valid", other.clock.now());

/** The process that stops. */
const startLeaving = (env: Record<string, string>) =>
  startTestService({ machines: 1, databaseUrl: other.databaseUrl, clock: other.clock, verify, env });

async function claim(t: TestContext) {
  const { session, sessionId, socketToken } = await claimedSession(partner.api);
  const connect = async (url: string) => {
    const device = await TestDevice.connect(url, sessionId, socketToken);
    t.after(() => device.connection.close());
    return device;
  };
  const tries = async () => {
    const now = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    return [now.nfc_tries_used, now.liveness_tries_used, now.status];
  };
  return { session, connect, tries };
}

function open(url: string, agent: Agent | false): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { agent }, resolve).once("error", reject));
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

test("a process that drains is not ready at once and goes on serving; then streams and devices are asked to reconnect", async (t) => {
  const leaving = await startLeaving({ DRAIN_SECONDS: "2" });
  const { session, connect, tries } = await claim(t);
  const device = await connect(leaving.url);
  await device.expect("welcome");
  // The process begins to drain while the chip is asked for its proof.
  sendFiles(device.connection, await device.read(valid), 1);
  await device.expect("chip_command");
  const events = await open(`${leaving.url}/v1/verify/session/${session.id}/events`, false);
  const streamed = textOf(events);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const kept = await open(`${leaving.url}/healthz`, agent);
  assert.equal(kept.headers.connection, "keep-alive");
  await textOf(kept);

  const drained = leaving.service.drain();
  const readiness = await leaving.api.get("/readyz");
  assert.equal(readiness.status, 503);
  assert.match(readiness.text, /the process is being stopped/);
  // On the connection that was kept for more.
  const served = await open(`${leaving.url}/healthz`, agent);
  assert.deepEqual([served.statusCode, served.headers.connection], [200, "close"]);
  await textOf(served);
  const during = await leaving.api.as(partner.key.secret).post("/v1/sessions", {});
  expectData(during, 201);
  await drained;
  assert.equal(await device.closed(), "SHUTTING_DOWN");
  assert.match(await streamed, /retry: 3000\n\n[\s\S]*event: status[\s\S]*retry: \d{1,4}\n\n$/);
  assert.equal(await (await connect(leaving.url)).closed(), "SHUTTING_DOWN");

  // During the chip step: what was read is sent again, and no try is used.
  const again = await connect(other.url);
  const { phase, tries_left } = await again.expect("welcome");
  assert.deepEqual([phase, tries_left], ["chip", { chip: 3, face: 3 }]);
  assert.equal((await again.passChip(valid)).type, "step_result");
  assert.deepEqual(await tries(), [1, 0, "in_progress"]);
});

test("in the midst of a face a device may finish where it is, and goes on elsewhere without losing a try when time is up", async (t) => {
  const leaving = await startLeaving({ DRAIN_ATTEMPT_SECONDS: "1" });
  const inFace = async () => {
    const claimed = await claim(t);
    const device = await claimed.connect(leaving.url);
    await device.expect("welcome");
    assert.equal((await device.passChip(valid)).type, "step_result");
    device.send({ type: "face_start", camera: true });
    await device.expect("face_challenge");
    return { ...claimed, device };
  };
  const [quick, slow] = [await inFace(), await inFace()];
  const waiting = await claim(t);
  const idle = await waiting.connect(leaving.url);
  await idle.expect("welcome");

  const drained = leaving.service.drain();
  assert.equal(await idle.closed(), "SHUTTING_DOWN");
  quick.device.send({ type: "face_done" });
  assert.equal((await quick.device.expect("step_result")).failure_code, "liveness_failed");
  assert.deepEqual(await quick.tries(), [1, 1, "in_progress"]);
  assert.equal(await slow.device.closed(), "SHUTTING_DOWN");
  await drained;

  const again = await slow.connect(other.url);
  const { phase, tries_left } = await again.expect("welcome");
  assert.deepEqual([phase, tries_left], ["chip", { chip: 2, face: 3 }]);
  assert.equal((await again.passChip(valid)).type, "step_result");
  again.send({ type: "face_start" });
  assert.equal((await again.expect("outcome")).status, "succeeded");
  assert.deepEqual(await slow.tries(), [1, 1, "succeeded"]);
});

test("the background work of a process that goes is left to others at once, and nothing wakes it", async () => {
  const leaving = await startLeaving({});
  await leaving.service.drain();
  const { id } = expectData(await partner.api.post("/v1/sessions", {}), 201);
  other.clock.advance(2 * hourMs);
  await leaving.runJob("expire-sessions");
  const { db } = other.core;
  const { status } = await db.one<{ status: string }>(sql`select status from sessions where id = ${id}`);
  assert.equal(status, "created");
});

test("a process whose machine is two hours ahead expires nothing, and says what is wrong", async () => {
  const hours = 2 * 3_600_000;
  const { url: databaseUrl } = await createTestDatabase();
  const ahead = new DatabaseClock({ now: () => new Date(Date.now() + hours) });
  const fast = await startTestService({ databaseUrl, clock: ahead });
  const { api, key } = await createPartner(fast.api);
  const session = expectData(await api.post("/v1/sessions", {}), 201);
  const lifeMs = Date.parse(session.expires_at) - Date.now();
  assert.ok(lifeMs > 0 && lifeMs < hours, session.expires_at);
  const right = await startTestService({ databaseUrl, clock: new DatabaseClock(), role: "api" });
  const made = expectData(await right.api.as(key.secret).post("/v1/sessions", {}), 201);
  await fast.runJob("expire-sessions");
  for (const { id } of [session, made])
    assert.equal(expectData(await api.get(`/v1/sessions/${id}`)).status, "created");
  assert.ok(
    fast.logLines.some((line) =>
      /clock of this machine differs from the database's.*"seconds":7200/.test(line),
    ),
  );
  assert.ok(!right.logLines.some((line) => line.includes("clock of this machine")));
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CallError } from "@assay/contract/client";
import { artifactFrames } from "@assay/contract/verify-protocol";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import type { Challenge } from "@assay/face/challenge";
import { sql } from "../../../src/platform/db/sql.ts";
import type { FaceJudge, FaceVerdict } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { claimedSession, TestDevice, testDocument, trustTestCountry } from "../../support/verify-device.ts";

const service = await startTestService({
  // The queue has no room, so everyone but one is asked to wait.
  verify: { faceJudge: null, examiner: { threads: 1, maxWaiting: 0, retryMs: 20 } },
});
const partner = await createPartner(service.api);
const live = await createLivePartner(service.core, service.api);
const valid = testDocument("passport-valid", service.clock.now());

async function begin(t: TestContext, from: TestService, api = partner.api) {
  const claimed = await claimedSession(api);
  const connect = async (baseUrl = from.url) => {
    const device = await TestDevice.connect(baseUrl, claimed.sessionId, claimed.socketToken);
    t.after(() => device.connection.close());
    return device;
  };
  const tries = async () => {
    const session = expectData(await api.get(`/v1/sessions/${claimed.sessionId}`));
    return [session.nfc_tries_used, session.liveness_tries_used, session.status];
  };
  return { ...claimed, connect, tries };
}

test("a live document without any known authority is a fault of ours, however often", async (t) => {
  const { connect, tries } = await begin(t, service, live.api);
  const device = await connect();
  assert.equal((await device.expect("welcome")).face, "unavailable");
  for (const artifact of [1, 20, 40, 60]) {
    const fault = await device.passChip(valid, artifact);
    assert.ok(fault.type === "fault");
    assert.deepEqual([fault.code, fault.phase], ["TRUST_STORE_EMPTY", "chip"]);
  }
  assert.deepEqual(await tries(), [0, 0, "in_progress"]);
});

test("a try that cannot be written down is not counted, and the step can be taken again", async (t) => {
  const { connect, tries } = await begin(t, service);
  const device = await connect();
  await device.expect("welcome");
  const { db } = service.core;
  await db.run(
    sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''full''; end'`,
  );
  await db.run(
    sql`create trigger refuse before update of steps on sessions for each row execute function refuse()`,
  );
  const fault = await device.passChip(valid);
  assert.ok(fault.type === "fault");
  assert.equal(fault.code, "STORE_UNAVAILABLE");
  await db.run(sql`drop function refuse() cascade`);
  assert.deepEqual(await tries(), [0, 0, "in_progress"]);
  assert.equal((await device.passChip(valid, 50)).type, "step_result");
  device.send({ type: "face_start" });
  assert.equal((await device.expect("outcome")).status, "succeeded");
  assert.deepEqual(await tries(), [1, 1, "succeeded"]);
});

test("a thread that is lost costs no try", async (t) => {
  // With its own examiner, because the threads that test files share have the default timing.
  const hasty = await startTestService({ verify: { examiner: { threads: 1, taskMs: 1 } } });
  const { api } = await createPartner(hasty.api);
  const { connect, tries } = await begin(t, hasty, api);
  const device = await connect();
  await device.expect("welcome");
  const fault = await device.passChip(valid);
  assert.ok(fault.type === "fault");
  assert.equal(fault.code, "CHECK_FAILED_TO_RUN");
  assert.deepEqual(await tries(), [0, 0, "in_progress"]);
});

test("many at once with one thread and no queue: all are asked to wait and none fails", async () => {
  let asked = 0;
  const verify = async (verificationUrl: string): ReturnType<typeof runDevice> => {
    try {
      const onStep = (step: string) => {
        if (step === "waiting") asked += 1;
      };
      return await runDevice({ verificationUrl, chip: virtualPassport(valid), onStep });
    } catch (error) {
      // On a busy machine the claim may time out without effect; a person tries again.
      if (error instanceof CallError && error.code === "SERVICE_UNAVAILABLE") return verify(verificationUrl);
      throw error;
    }
  };
  const urls: string[] = [];
  for (let i = 0; i < 15; i++)
    urls.push(expectData(await partner.api.post("/v1/sessions", {}), 201).verification_url);
  const outcomes = await Promise.all(urls.map(verify));
  assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(["succeeded"]));
  assert.ok(asked > 0);
  const metrics = service.core.metrics.render();
  for (const step of ["chip_check", "chip_proof", "face_check", "count", "finish"])
    assert.match(metrics, new RegExp(`assay_verify_step_seconds_count\\{step="${step}"\\} [1-9]`));
});

test("a device that comes to another process reads its chip again, which costs no try, and the older socket is closed", async (t) => {
  const other = await startTestService({
    databaseUrl: service.databaseUrl,
    clock: service.clock,
    role: "api",
    verify: { examiner: { threads: 1 } },
  });
  const { connect, tries } = await begin(t, service);
  const first = await connect();
  await first.expect("welcome");
  assert.equal((await first.passChip(valid)).type, "step_result");
  const second = await connect(other.url);
  assert.equal(await first.closed(), "REPLACED");
  const welcome = await second.expect("welcome");
  assert.deepEqual([welcome.phase, welcome.resumed, welcome.tries_left.chip], ["chip", false, 2]);
  assert.equal((await second.passChip(valid)).type, "step_result");
  assert.deepEqual(await tries(), [1, 0, "in_progress"]);
  second.send({ type: "face_start" });
  assert.equal((await second.expect("outcome")).status, "succeeded");
  assert.deepEqual(await tries(), [1, 1, "succeeded"]);
});

test("a process that stops asks its devices to reconnect", async (t) => {
  const stopping = await startTestService({
    databaseUrl: service.databaseUrl,
    clock: service.clock,
    role: "api",
    verify: { examiner: { threads: 1 } },
  });
  const { connect, tries } = await begin(t, service);
  const device = await connect(stopping.url);
  await device.expect("welcome");
  const closing = stopping.service.close();
  assert.equal(await device.closed(), "SHUTTING_DOWN");
  await closing;
  const again = await connect();
  await again.expect("welcome");
  assert.equal((await again.passChip(valid)).type, "step_result");
  assert.deepEqual(await tries(), [1, 0, "in_progress"]);
});

// --- live --------------------------------------------------------------------------------------------------

test("in live no session succeeds without a face check, and none loses a try over it", async (t) => {
  await trustTestCountry(service);
  const { connect, tries } = await begin(t, service, live.api);
  const device = await connect();
  await device.expect("welcome");
  assert.equal((await device.passChip(valid)).type, "step_result");
  for (let i = 0; i < 4; i++) {
    device.send({ type: "face_start" });
    assert.equal((await device.expect("fault")).code, "FACE_CHECK_UNAVAILABLE");
  }
  device.send({ type: "face_done" });
  assert.equal(await device.closed(), "OUT_OF_ORDER");
  assert.deepEqual(await tries(), [1, 0, "in_progress"]);
});

test("live at a desk without a camera: once the chip has passed, a browser goes on with the desk's token", async (t) => {
  // The process that the desk was connected to has the passed chip in memory. At another process the browser
  // would have a chip to read, and the desk would read it again.
  const live = await startTestService({ machines: 1, verify: { examiner: { threads: 1 } } });
  await trustTestCountry(live);
  const { api } = await createPartner(live.api);
  const session = expectData(await api.post("/v1/sessions", {}), 201);
  const takeHome = { verificationUrl: session.verification_url, stopAfter: "consent" } as const;
  await runDevice({ ...takeHome, chip: virtualPassport(valid) });
  await live.core.db.run(sql`update sessions set sandbox = false where id = ${session.id}`);
  const outcome = await runDevice({
    verificationUrl: session.verification_url,
    consent: "given",
    chip: virtualPassport(valid),
  });
  assert.ok(outcome.kind === "face_elsewhere", JSON.stringify(outcome));
  const [page, token] = outcome.url.split("#socket=");
  assert.equal(page, session.verification_url);
  const browser = await TestDevice.connect(live.url, session.id, token);
  t.after(() => browser.connection.close());
  const { phase, resumed, face } = await browser.expect("welcome");
  assert.deepEqual([phase, resumed, face], ["face", true, "camera"]);
  browser.send({ type: "face_start" });
  assert.equal((await browser.expect("face_challenge")).movements.length, 4);
});

test("live with a face check: its verdict decides, its faults do not count, and it sees what was sent", async (t) => {
  const challenge: Challenge = {
    movements: ["turn_left", "look_up"],
    colours: ["blue", "white"],
    colourMs: 900,
    deadlineMs: 20_000,
  };
  const verdicts: (FaceVerdict | Error)[] = [];
  const seen: { portraitBytes: number; frames: string[] }[] = [];
  let busy = true;
  const faceJudge: FaceJudge = {
    begin: () => (busy ? null : challenge),
    close: async () => {},
    follow: () => new FaceSitting(() => null),
    judge: async ({ portrait, frames, challenge: answered, sandbox }) => {
      assert.deepEqual([answered, sandbox], [challenge, false]);
      seen.push({
        portraitBytes: portrait.length,
        frames: frames.map(
          ({ jpeg, atMs, receivedAtMs }) => `${atMs} ${receivedAtMs} ${Buffer.from(jpeg).toString("hex")}`,
        ),
      });
      const verdict = verdicts.shift() ?? new Error("no verdict is left");
      if (verdict instanceof Error) throw verdict;
      return verdict;
    },
  };
  const live = await startTestService({ verify: { examiner: { threads: 1 }, faceJudge } });
  await trustTestCountry(live);
  const { api, owner } = await createLivePartner(live.core, live.api);
  const { connect, tries } = await begin(t, live, api);
  const device = await connect();
  assert.equal((await device.expect("welcome")).face, "camera");
  assert.equal((await device.passChip(valid)).type, "step_result");
  let artifact = 100;
  const capture = async () => {
    device.send({ type: "face_start" });
    const { nonce, ...challenge } = await device.expect("face_challenge");
    assert.equal(Buffer.from(nonce, "base64").length, 32);
    assert.deepEqual(challenge, {
      type: "face_challenge",
      movements: ["turn_left", "look_up"],
      colours: ["blue", "white"],
      colour_ms: 900,
      deadline_ms: 20_000,
    });
    live.clock.advance(300);
    for (const byte of [1, 2]) {
      artifact += 1;
      device.send({ type: "face_frame", artifact, size: 2, at_ms: byte * 100 });
      for (const frame of artifactFrames(artifact, Uint8Array.of(byte, byte)))
        device.connection.sendBytes(frame);
    }
    device.send({ type: "face_done" });
  };
  device.send({ type: "face_start" });
  assert.equal((await device.expect("fault")).code, "FACE_CHECK_BUSY");
  busy = false;
  verdicts.push(new Error("a model is missing"));
  await capture();
  assert.equal((await device.expect("fault")).code, "CHECK_FAILED_TO_RUN");
  assert.deepEqual(await tries(), [1, 0, "in_progress"]);
  for (const reason of ["worker_died", "busy"] as const) {
    verdicts.push({ kind: "fault", reason });
    await capture();
    assert.equal((await device.expect("fault")).phase, "face");
    assert.deepEqual(await tries(), [1, 0, "in_progress"]);
  }
  verdicts.push({ kind: "failed", code: "selfie_face_mismatch", reasons: ["match_in_review_band"] });
  await capture();
  assert.deepEqual((await device.expect("step_result")).tries_left, { chip: 2, face: 2 });
  // After the deadline the answer does not matter any more.
  device.send({ type: "face_start" });
  await device.expect("face_challenge");
  live.clock.advance(20_001);
  device.send({ type: "face_done" });
  assert.equal((await device.expect("step_result")).failure_code, "liveness_failed");
  verdicts.push({
    kind: "passed",
    distance: 0.3,
    risk: 0.1,
    checks: [],
    riskInputs: {
      distance: 0.3,
      identitySpread: 0.1,
      colours: "followed",
      colourCorrelation: 0.9,
      colourReflection: 0.05,
      colourSurroundingShare: 0.2,
      framesPerSecond: 5,
      stillHead: false,
      signs: [],
    },
  });
  await capture();
  assert.equal((await device.expect("outcome")).status, "succeeded");
  assert.deepEqual(await tries(), [1, 3, "succeeded"]);
  assert.equal(seen.length, 5);
  for (const { portraitBytes, frames } of seen) {
    assert.ok(portraitBytes > 1000);
    assert.deepEqual(frames, ["100 300 0101", "200 300 0202"]);
  }
  // The audit log has more than the failure code.
  const logged = expectData(
    await owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.face_rejected" }),
  );
  assert.deepEqual(
    logged.map(({ details }: { details: Record<string, unknown> }) => [
      details.failure_code,
      details.reasons,
    ]),
    [
      ["liveness_failed", ["deadline_passed"]],
      ["selfie_face_mismatch", ["match_in_review_band"]],
    ],
  );
});

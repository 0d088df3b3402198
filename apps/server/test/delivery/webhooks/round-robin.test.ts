import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { newChallenge } from "@assay/face/challenge";
import { maxBreakdowns, maxFreeChallenges } from "../../../src/verification/attempts/verify-flow.ts";
import type { FaceJudge } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { createPartner, expectData, expectError, signUp } from "../../support/api.ts";
import { latestToken } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";
import { agree, claimWith, handOff, startVerification, takeSession } from "../../support/verify.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

// Every request goes to the other machine than the one before, and their data folders are separate.
// `ASSAY_MACHINES=2` runs other files in this way.
const faceJudge: FaceJudge = {
  begin: () => newChallenge((below) => below - 1),
  close: async () => {},
  follow: () => new FaceSitting(() => null),
  judge: async () => ({ kind: "fault", reason: "worker_died" }),
};
const service = await startTestService({ machines: 2, verify: { faceJudge } });
const { api } = service;
const partner = await createPartner(api);
const valid = testDocument("passport-valid", service.clock.now());

test("two machines without anything in common but the database are one service to accounts and partners", async () => {
  const user = await signUp(api);
  for (let time = 0; time < 4; time++) expectData(await user.api.get("/v1/auth/account"));
  await api.post("/v1/auth/sign-in/magic-link", { email: user.email });
  const token = await latestToken(service, user.email, "magic-link");
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token }));
  expectError(await api.post("/v1/auth/sign-in/magic-link/verify", { token }), 401, "UNAUTHORIZED");

  const keyed = { "idempotency-key": "once" };
  const created = [1, 2, 3].map(() => partner.api.post("/v1/sessions", {}, keyed));
  assert.equal(new Set((await Promise.all(created)).map(({ text }) => text)).size, 1);

  // A deleted key is refused at once by the other machine too.
  for (let time = 0; time < 2; time++) expectData(await partner.api.get("/v1/sessions"));
  assert.equal((await partner.owner.api.delete(`/v1/auth/api-keys/${partner.key.id}`)).status, 204);
  for (let time = 0; time < 2; time++)
    expectError(await partner.api.get("/v1/sessions"), 401, "UNAUTHORIZED");
});

test("guesses are counted together, whichever machine they reach", async () => {
  const user = await signUp(api);
  const guess = () => api.post("/v1/auth/sign-in/email", { email: user.email, password: "a wrong guess" });
  const answers = [];
  for (let time = 0; time < 12; time++) answers.push((await guess()).status);
  const firstLimited = answers.indexOf(429);
  assert.ok(firstLimited > 0, String(answers));
  assert.deepEqual(new Set(answers.slice(firstLimited)), new Set([429]));
});

/** A sandbox device that reads its chip at the other machine each time and asks for a challenge. */
async function askElsewhere(t: TestContext) {
  const { sessionId, socketToken } = await claimedSession((await createPartner(api)).api);
  let previous: TestDevice | undefined;
  return async (): Promise<TestDevice> => {
    const device = await TestDevice.connect(service.url, sessionId, socketToken);
    t.after(() => device.connection.close());
    const { phase, resumed } = await device.expect("welcome");
    assert.deepEqual([phase, resumed], ["chip", false], "this machine knows nothing of the other one's run");
    // Until it hears of this device, the other machine keeps the run of the device before.
    if (previous !== undefined) assert.equal(await previous.closed(), "REPLACED");
    previous = device;
    assert.equal((await device.passChip(valid)).type, "step_result");
    device.send({ type: "face_start", camera: true });
    return device;
  };
}

test("challenges that go unanswered are counted together: moving on to another machine gives no more of them", async (t) => {
  const ask = await askElsewhere(t);
  for (let free = 0; free < maxFreeChallenges; free++) await (await ask()).expect("face_challenge");
  const device = await ask();
  const { failure_code: code, tries_left: left } = await device.expect("step_result");
  assert.deepEqual([code, left.face], ["liveness_failed", 2]);
  // The verdict resets the count of unanswered challenges.
  device.send({ type: "face_start", camera: true });
  await device.expect("face_challenge");
});

test("an answer that cannot be judged is none that was left out, and a check that breaks down again and again is given up everywhere", async (t) => {
  const ask = await askElsewhere(t);
  for (let breakdown = 0; breakdown <= maxBreakdowns; breakdown++) {
    const device = await ask();
    await device.expect("face_challenge");
    device.send({ type: "face_done" });
    assert.equal((await device.expect("fault")).code, "CHECK_FAILED_TO_RUN");
  }
  const device = await ask();
  assert.equal((await device.expect("fault")).code, "FACE_CHECK_UNAVAILABLE");
});

test("a person is verified over both, goes on at the other machine, and a device that comes back replaces itself", async () => {
  const { api: other } = await createPartner(api);
  const session = expectData(await other.post("/v1/sessions", {}), 201);
  const { kind } = await runDevice({
    verificationUrl: session.verification_url,
    chip: virtualPassport(valid),
  });
  assert.equal(kind, "succeeded");

  const begun = await startVerification(other);
  const { socketToken } = await takeSession(api, begun.id);
  const first = await TestDevice.connect(service.url, begun.id, socketToken);
  await first.expect("welcome");
  const second = await TestDevice.connect(service.url, begun.id, socketToken);
  await second.expect("welcome");
  assert.equal(await first.closed(), "REPLACED");
  assert.equal((await second.passChip(valid)).type, "step_result");
  second.connection.close();

  // A link is good for one device, on whichever machine it is tried.
  const shared = await startVerification(other);
  await agree(api, shared.id);
  const handoff = await handOff(api, shared.id);
  const claims = await Promise.all(
    ["phone", "tablet"].map((device) => claimWith(api, shared.id, handoff, device)),
  );
  assert.deepEqual(claims.map(({ status }) => status === 201).sort(), [false, true]);

  const [left = 0, right = 0] = service.requests;
  assert.ok(left > 10 && Math.abs(left - right) <= 1, `${left} and ${right}`);
});

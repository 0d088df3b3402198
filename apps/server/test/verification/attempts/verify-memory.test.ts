import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { artifactFrames, verifySocketLimits } from "@assay/contract/verify-protocol";
import { sendFiles, sendFrame } from "@assay/device/send-artifacts";
import { challengeShape, newChallenge } from "@assay/face/challenge";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import type { FaceJudge, FaceVerdict } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { agree, claimWith, handOff, requiredKeys, shareFields } from "../../support/verify.ts";
import { TestDevice, testDocument } from "../../support/verify-device.ts";

/** All memory of a run for a device's files is allocated here, so a test can inspect it after the run. */
const handedOut: Buffer[] = [];
const allocate = (bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  handedOut.push(buffer);
  return buffer;
};
const isOverwritten = (buffer: Buffer) => buffer.every((byte) => byte === 0);
const keptBytes = () => handedOut.filter((buffer) => !isOverwritten(buffer)).length;

let verdict: FaceVerdict = { kind: "failed", code: "liveness_failed", reasons: ["face_still"] };
const faceJudge: FaceJudge = {
  begin: () => newChallenge((below) => below - 1),
  close: async () => {},
  follow: () => new FaceSitting(() => null),
  judge: async () => verdict,
};
const verify = {
  faceJudge,
  allocate,
  timing: { heartbeatMs: 1000, resumeMs: 50, deadlineCheckMs: 20 },
};

/** Of all machines together. */
const gauge = ({ machines }: TestService, name: string) =>
  machines
    .map(({ core }) => new RegExp(`^${name} (\\d+)$`, "m").exec(core.metrics.render())?.[1])
    .reduce((sum, value) => sum + Number(value ?? assert.fail(name)), 0);
const reserved = (service: TestService) => gauge(service, "assay_attempt_bytes");

async function expectNothingHeld(service: TestService): Promise<void> {
  await until("something is still counted", () => reserved(service) === 0);
  assert.equal(gauge(service, "assay_attempt_bytes_sandbox"), 0);
  await until("something was not overwritten", () => keptBytes() === 0);
}

/** A session that a device has taken, and the token that lets another device take over. */
async function begin(
  t: TestContext,
  service: TestService,
  partner: Awaited<ReturnType<typeof createPartner>>,
) {
  const session = expectData(await partner.api.post("/v1/sessions", { share_fields: shareFields }), 201);
  const { cancel_token: cancelToken } = await agree(service.api, session.id, requiredKeys);
  const claim = async (token: string, device: string): Promise<string> =>
    expectData(await claimWith(service.api, session.id, token, device), 201).socket_token;
  const socketToken = await claim(await handOff(service.api, session.id), "first");
  const connect = async (token = socketToken) => {
    const device = await TestDevice.connect(service.url, session.id, token);
    t.after(() => device.connection.close());
    return device;
  };
  const takeOver = async () => claim(await handOff(service.api, session.id, cancelToken), "second");
  return { id: session.id, partner, cancelToken, connect, takeOver, service };
}
type Begun = Awaited<ReturnType<typeof begin>>;

const document = (service: TestService) => testDocument("passport-valid", service.clock.now());

/** The progress of a device. After each step some bytes are held, or may arrive at once. */
const depths = {
  welcome: async (device: TestDevice) => {
    await device.expect("welcome");
  },
  "half a chip": async (device: TestDevice) => {
    await device.expect("welcome");
    device.send({ type: "chip_file", artifact: 1, file: "DG2", size: 100_000 });
    const [first] = artifactFrames(1, new Uint8Array(100_000).fill(7));
    device.connection.sendBytes(first ?? assert.fail());
    await until("the part has not arrived", () => keptBytes() > 0);
  },
  "a chip that waits for its proof": async (device: TestDevice, service: TestService) => {
    await device.expect("welcome");
    const files = await device.read(document(service));
    sendFiles(device.connection, files);
    await device.expect("chip_command");
    assert.ok(keptBytes() > 2);
  },
  "a chip that has passed": async (device: TestDevice, service: TestService) => {
    await device.expect("welcome");
    assert.equal((await device.passChip(document(service))).type, "step_result");
    assert.equal(keptBytes(), 2, "of the chip only portrait and signature are kept");
  },
  "a capture": async (device: TestDevice, service: TestService) => {
    await depths["a chip that has passed"](device, service);
    device.send({ type: "face_start", camera: true });
    await device.expect("face_challenge");
    sendFrame(device.connection, 50, new Uint8Array(90_000).fill(9), 100);
    device.send({ type: "face_frame", artifact: 51, size: 80_000, at_ms: 400 });
    await until("the frame has not arrived", () => keptBytes() === 3);
  },
} as const;

/** Every way in which a run ends or is abandoned. */
const endings: Record<string, (begun: Begun, device: TestDevice) => Promise<void>> = {
  "the device goes away": async (_begun, device) => device.connection.close(),
  "the device breaks the rules": async (_begun, device) => {
    device.send({ type: "chip_file", artifact: 1, file: "DG1", size: 250 });
    device.send({ type: "chip_file", artifact: 1, file: "DG1", size: 250 });
    await device.closed();
  },
  "the person cancels": async ({ id, cancelToken, service }, device) => {
    expectData(await service.api.post(`/v1/verify/session/${id}/cancel`, { cancel_token: cancelToken }));
    assert.equal(await device.closed(), "SESSION_ENDED");
  },
  "another device takes over": async ({ takeOver }, device) => {
    await takeOver();
    assert.equal(await device.closed(), "SESSION_ENDED");
  },
  "the session expires": async ({ service }, device) => {
    service.clock.advance(61 * minuteMs);
    assert.ok(["SESSION_ENDED", "IDLE_TIMEOUT"].includes(await device.closed()));
  },
  "a new socket of the device, which goes away too": async ({ connect }, device) => {
    const next = await connect();
    await next.expect("welcome");
    assert.equal(await device.closed(), "REPLACED");
    next.connection.close();
  },
};

const service = await startTestService({ verify });
const partner = await createPartner(service.api);

for (const [depth, reach] of Object.entries(depths))
  for (const [ending, end] of Object.entries(endings))
    test(`nothing is counted and every byte is overwritten: ${depth}, then ${ending}`, async (t) => {
      handedOut.length = 0;
      const begun = await begin(t, service, partner);
      const device = await begun.connect();
      await reach(device, service);
      assert.ok(reserved(service) > 0);
      await end(begun, device);
      await expectNothingHeld(service);
    });

test("nothing is counted and every byte is overwritten after a success, and a failure keeps no frame", async (t) => {
  handedOut.length = 0;
  const begun = await begin(t, service, partner);
  const device = await begun.connect();
  await depths["a capture"](device, service);
  for (const frame of artifactFrames(51, new Uint8Array(80_000).fill(9))) device.connection.sendBytes(frame);
  device.send({ type: "face_done" });
  await device.expect("step_result");
  assert.equal(keptBytes(), 2, "portrait and signature, and no frame");
  const chipOnly = reserved(service);
  assert.ok(chipOnly > 0 && chipOnly < verifySocketLimits.chipBytes, String(chipOnly));
  device.send({ type: "face_start" });
  assert.equal((await device.expect("outcome")).status, "succeeded");
  await expectNothingHeld(service);
});

test("what came through the socket is overwritten as well once it was copied", async (t) => {
  const received: Buffer[] = [];
  // The service does not expose its sockets, so the test intercepts their events.
  const emit = EventEmitter.prototype.emit;
  const watching = t.mock.method(
    EventEmitter.prototype,
    "emit",
    function (this: EventEmitter, ...given: unknown[]) {
      const [event, data, isBinary] = given;
      if (event === "message" && isBinary === true && Buffer.isBuffer(data)) received.push(data);
      return Reflect.apply(emit, this, given);
    },
  );
  const begun = await begin(t, service, partner);
  const device = await begun.connect();
  await depths["a capture"](device, service);
  watching.mock.restore();
  assert.ok(received.length > 4, "the files of the chip, and a frame of the camera");
  await until("a frame was not overwritten", () => received.every(isOverwritten));
});

test("the key of document identifiers is overwritten once a success was written", async (t) => {
  const opened = service.machines.map(({ core }) => t.mock.method(core.ring, "open"));
  const begun = await begin(t, service, partner);
  const device = await begun.connect();
  await depths["a chip that has passed"](device, service);
  device.send({ type: "face_start" });
  assert.equal((await device.expect("outcome")).status, "succeeded");
  const keys = opened.flatMap(({ mock }) =>
    mock.calls.flatMap(({ arguments: [purpose], result }) => (purpose === "document-id" && result) || []),
  );
  assert.equal(keys.length, 1);
  assert.ok(keys.every(isOverwritten));
});

test("nothing is counted and every byte is overwritten once a document has failed for good", async (t) => {
  handedOut.length = 0;
  const begun = await begin(t, service, partner);
  const device = await begun.connect();
  await device.expect("welcome");
  const expired = testDocument("passport-expired", service.clock.now());
  for (let tried = 1; tried < 3; tried++) {
    await device.passChip(expired, tried * 10);
    assert.equal(keptBytes(), 0, "a chip that was judged is not kept for the next try");
  }
  assert.equal((await device.passChip(expired, 30)).type, "outcome");
  await expectNothingHeld(service);
});

test("nothing is counted and every byte is overwritten when the process is stopped, or another one goes on", async (t) => {
  handedOut.length = 0;
  // One process, so that it is known where the bytes are before and after.
  const first = await startTestService({
    machines: 1,
    databaseUrl: service.databaseUrl,
    clock: service.clock,
    verify,
  });
  const begun = await begin(t, service, partner);
  const device = await TestDevice.connect(first.url, begun.id, undefined);
  const socketToken = await begun.takeOver();
  device.send({ type: "hello", socket_token: socketToken });
  await depths["a chip that has passed"](device, first);
  const elsewhere = await begun.connect(socketToken);
  await elsewhere.expect("welcome");
  assert.equal(await device.closed(), "REPLACED");
  await expectNothingHeld(first);
  assert.ok(reserved(service) > 0, "now it is the other process that may be sent a chip");
  elsewhere.connection.close();
  await expectNothingHeld(service);

  const last = await begin(t, first, await createPartner(first.api));
  const leaving = await last.connect();
  await depths["a capture"](leaving, first);
  await first.close();
  assert.deepEqual([reserved(first), keptBytes()], [0, 0]);
});

// --- a capture that outlives its challenge -----------------------------------------------------------------

/** Keeps the chip for a device that reconnects. One machine, because the chip is in its memory. */
const patient = await startTestService({
  machines: 1,
  verify: { ...verify, timing: { ...verify.timing, resumeMs: verifySocketLimits.resumeMs } },
});
const theirs = await createPartner(patient.api);

test("a capture is ended some seconds after its challenge: nothing is held, no try is used, and the device goes on", async (t) => {
  handedOut.length = 0;
  const begun = await begin(t, patient, theirs);
  const device = await begun.connect();
  await depths["a capture"](device, patient);
  patient.clock.advance(challengeShape.deadlineMs + verifySocketLimits.captureGraceMs);
  await wait(100);
  assert.ok(reserved(patient) > verifySocketLimits.faceBytes, "not a moment too early");
  patient.clock.advance(1);
  assert.equal(await device.closed(), "IDLE_TIMEOUT");
  assert.ok(reserved(patient) < verifySocketLimits.chipBytes, "the frames are given back, the chip is not");
  assert.equal(keptBytes(), 2);
  const next = await begun.connect();
  const { phase, tries_left: left } = await next.expect("welcome");
  assert.deepEqual([phase, left.face], ["face", 3]);
  next.send({ type: "face_start" });
  await next.expect("outcome");
});

test("what is kept for a device that may come back is overwritten when its session expires", async (t) => {
  handedOut.length = 0;
  const begun = await begin(t, patient, theirs);
  const device = await begun.connect();
  await depths["a chip that has passed"](device, patient);
  device.connection.close();
  await until("the socket is still open", () => gauge(patient, "assay_verify_sockets") === 0);
  assert.equal(keptBytes(), 2, "the device may come back");
  patient.clock.advance(61 * minuteMs);
  await expectNothingHeld(patient);
});

test("challenges that are left to run out are counted like those of lost connections: the fifth costs a try", async (t) => {
  const begun = await begin(t, patient, theirs);
  let device = await begun.connect();
  await depths["a chip that has passed"](device, patient);
  for (let unanswered = 0; unanswered < 4; unanswered++) {
    device.send({ type: "face_start", camera: true });
    await device.expect("face_challenge");
    patient.clock.advance(challengeShape.deadlineMs + verifySocketLimits.captureGraceMs + 1);
    assert.equal(await device.closed(), "IDLE_TIMEOUT");
    device = await begun.connect();
    await device.expect("welcome");
  }
  device.send({ type: "face_start", camera: true });
  const { failure_code: code, tries_left: left } = await device.expect("step_result");
  assert.deepEqual([code, left.face], ["liveness_failed", 2]);
});

// --- over the budget ---------------------------------------------------------------------------------------

test("over the budget a device is asked to wait before it has sent anything, and goes on without having lost a try", async (t) => {
  handedOut.length = 0;
  const small = await startTestService({
    // The budget is that of a process.
    machines: 1,
    env: { ATTEMPT_MEMORY_MB: "16" },
    config: { attemptMemorySandboxPercent: 1 },
    verify,
  });
  const ours = await createPartner(small.api);
  const [filming, waiting] = [await begin(t, small, ours), await begin(t, small, ours)];
  const camera = await filming.connect();
  await depths["a chip that has passed"](camera, small);
  const chip = await waiting.connect();
  await chip.expect("welcome");

  camera.send({ type: "face_start", camera: true });
  const fault = await camera.expect("fault");
  assert.deepEqual([fault.code, fault.phase], ["FACE_CHECK_BUSY", "face"]);
  chip.connection.close();
  await until("the chip's place was not given back", () => reserved(small) < 1_000_000);
  camera.send({ type: "face_start", camera: true });
  await camera.expect("face_challenge");

  const refused = await waiting.connect();
  assert.equal(await refused.closed(), "BUSY");
  assert.match(small.core.metrics.render(), /^assay_attempt_bytes_refused_total\{limit="\w+"\} [1-9]/m);
  verdict = { kind: "passed", distance: 0.1, risk: 0, riskInputs: { signs: [] } as never, checks: [] };
  camera.send({ type: "face_done" });
  await camera.expect("outcome");
  const again = await waiting.connect();
  assert.deepEqual((await again.expect("welcome")).tries_left, { chip: 3, face: 3 });
  assert.equal((await again.passChip(document(small))).type, "step_result");
});

test("one organization cannot take the memory of all, nor the sandbox that of live sessions", async (t) => {
  const shared = await startTestService({
    // As above.
    machines: 1,
    env: { ATTEMPT_MEMORY_MB: "80" },
    config: { attemptMemorySandboxPercent: 50 },
    verify,
  });
  /** Starts captures until the memory is used up, and returns how many fit. */
  const fill = async (who: Awaited<ReturnType<typeof createPartner>>): Promise<number> => {
    for (let filming = 0; ; filming++) {
      const begun = await begin(t, shared, who);
      const device = await begun.connect();
      await depths["a chip that has passed"](device, shared).catch(() => null);
      device.send({ type: "face_start", camera: true });
      const heard = await device.connection.next();
      if (!("message" in heard) || heard.message.type !== "face_challenge") return filming;
    }
  };
  assert.equal(await fill(await createPartner(shared.api)), 1, "half of the sandbox");
  assert.equal(await fill(await createPartner(shared.api)), 1, "so another one has the other half");
  assert.equal(await fill(await createPartner(shared.api)), 1, "what is left over of 40 MB");
  assert.equal(await fill(await createPartner(shared.api)), 0, "the sandbox is full");
  assert.ok(reserved(shared) < 41 * 1024 * 1024, "the other half of the process is for live sessions");
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { artifactFrames, framesToSign, verifySocketLimits } from "@assay/contract/verify-protocol";
import { newChallenge } from "@assay/face/challenge";
import type { FaceJudge, JudgedFrame } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { app, attest, digest, rootPem } from "../../support/attested-phone.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

let passes = false;
const riskInputs = {
  distance: 0.2,
  identitySpread: 0.1,
  colours: "followed",
  colourCorrelation: 1,
  colourReflection: 1,
  colourSurroundingShare: 0,
  framesPerSecond: 3,
  stillHead: false,
  signs: [],
} as const;
const judged: (readonly JudgedFrame[])[] = [];
/** Sizes of the frames that were looked at before the judgement. */
const looked: number[] = [];
/** A frame of this size shows that the try cannot pass. */
const hopelessBytes = 77;
const faceJudge: FaceJudge = {
  begin: () => newChallenge((below) => below - 1),
  close: async () => {},
  follow: ({ onFailed }) =>
    new FaceSitting(async ({ jpeg }) => {
      looked.push(jpeg.length);
      if (jpeg.length === hopelessBytes)
        onFailed({ kind: "failed", code: "liveness_failed", reasons: ["cut"] });
      return { kind: "seen", faces: 0, width: 1, height: 1, face: null, box: null, mayFollow: 0 };
    }),
  judge: async ({ frames }) => {
    judged.push(frames);
    if (passes) return { kind: "passed", distance: 0.2, risk: 0, riskInputs, checks: [] };
    return { kind: "failed", code: "liveness_failed", reasons: ["face_still"] };
  },
};
const roots = join(mkdtempSync(join(tmpdir(), "assay-roots-")), "roots.pem");
writeFileSync(roots, rootPem);
after(() => rmSync(dirname(roots), { recursive: true, force: true }));
const env = {
  READER_APP_ANDROID: `package=${app.packageName},sha256=${digest},install=https://verify.example.org/app`,
  ATTESTATION_ROOTS: roots,
};
const service = await startTestService({ env, verify: { faceJudge } });
const partner = await createPartner(service.api);
const { faceFrames, faceFrameBytes, faceBytes } = verifySocketLimits;

async function atTheCamera(t: TestContext): Promise<TestDevice> {
  const { sessionId, socketToken } = await claimedSession(partner.api);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  await device.passChip(testDocument("passport-valid", service.clock.now()));
  return device;
}

async function filming(t: TestContext): Promise<TestDevice> {
  const device = await atTheCamera(t);
  device.send({ type: "face_start", camera: true });
  await device.expect("face_challenge");
  return device;
}

function film(device: TestDevice, sizes: readonly number[]): void {
  for (const [index, size] of sizes.entries()) {
    const artifact = 100 + index;
    device.send({ type: "face_frame", artifact, size, at_ms: (index + 1) * 300 });
    for (const frame of artifactFrames(artifact, new Uint8Array(size))) device.connection.sendBytes(frame);
  }
}

test("as many frames as the contract allows, and one as large as it allows, are judged", async (t) => {
  const device = await filming(t);
  const sizes = Array.from({ length: faceFrames }, (_, index) => (index === 0 ? faceFrameBytes : 10));
  film(device, sizes);
  device.send({ type: "face_done" });
  assert.equal((await device.expect("step_result")).failure_code, "liveness_failed");
  assert.deepEqual(
    judged.splice(0).map((frames) => frames.map(({ jpeg }) => jpeg.length)),
    [sizes],
  );
});

test("one frame more, a byte more in a frame, or more in all closes the socket before anything is judged", async (t) => {
  const large = Array.from({ length: Math.ceil(faceBytes / faceFrameBytes) + 1 }, () => faceFrameBytes);
  for (const [code, sizes] of [
    ["ARTIFACT_INVALID", Array.from({ length: faceFrames + 1 }, () => 10)],
    ["MESSAGE_INVALID", [faceFrameBytes + 1]],
    ["ARTIFACT_INVALID", large],
  ] as const) {
    const device = await filming(t);
    film(device, sizes);
    device.send({ type: "face_done" });
    await assert.rejects(device.expect("step_result"), new RegExp(`closed with ${code}`));
  }
  assert.deepEqual(judged, []);
});

test("whole frames are looked at while the others are still to come, in the order in which they are judged", async (t) => {
  looked.splice(0);
  const device = await filming(t);
  const eventually = async (sizes: readonly number[]) => {
    await until("the frames were looked at", () => looked.length >= sizes.length);
    assert.deepEqual(looked, sizes);
  };
  film(device, [11, 12]);
  await eventually([11, 12]);
  // The first of two is announced and sent last: the second waits for it.
  device.send({ type: "face_frame", artifact: 200, size: 13, at_ms: 900 });
  device.send({ type: "face_frame", artifact: 201, size: 14, at_ms: 1200 });
  for (const artifact of [201, 200])
    for (const part of artifactFrames(artifact, new Uint8Array(artifact === 200 ? 13 : 14))) {
      assert.equal(looked.length, 2);
      device.connection.sendBytes(part);
    }
  await eventually([11, 12, 13, 14]);
  device.send({ type: "face_done" });
  await device.expect("step_result");
  assert.deepEqual(
    judged.splice(0).map((frames) => frames.map(({ jpeg }) => jpeg.length)),
    [[11, 12, 13, 14]],
  );
});

test("a try that cannot pass any more ends before its last frame, and frames on their way do no harm", async (t) => {
  const device = await filming(t);
  film(device, [11, hopelessBytes]);
  const result = await device.expect("step_result");
  assert.deepEqual(
    [result.failure_code, result.tries_left.face, result.phase],
    ["liveness_failed", 2, "face"],
  );
  // These were sent before the device had heard of it.
  device.send({ type: "face_frame", artifact: 300, size: 12, at_ms: 2_000 });
  for (const part of artifactFrames(300, new Uint8Array(12))) device.connection.sendBytes(part);
  device.send({ type: "face_done" });
  device.send({ type: "face_start", camera: true });
  await device.expect("face_challenge");
  assert.deepEqual(judged, []);
});

test("every refused face is in the audit log, the last one as well, which fails the session", async (t) => {
  const other = await createPartner(service.api);
  const { sessionId, socketToken } = await claimedSession(other.api);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  await device.passChip(testDocument("passport-valid", service.clock.now()));
  for (const isLast of [false, false, true]) {
    device.send({ type: "face_start", camera: true });
    await device.expect("face_challenge");
    film(device, [10]);
    device.send({ type: "face_done" });
    if (!isLast) await device.expect("step_result");
  }
  assert.equal((await device.expect("outcome")).status, "failed");
  judged.splice(0);
  const logged = expectData<{ details: Record<string, unknown> }[]>(
    await other.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.face_rejected" }),
  );
  assert.deepEqual(
    logged.map(({ details }) => [details.failure_code, details.reasons]),
    Array.from({ length: 3 }, () => ["liveness_failed", ["face_still"]]),
  );
});

test("a success says whether the phone vouched for the frames, for this challenge and for these frames alone", async (t) => {
  passes = true;
  t.after(() => {
    passes = false;
  });
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const hashOfFrame = createHash("sha256").update(new Uint8Array(10)).digest();
  /** The evidence when the phone signed this number of ten-byte frames for the nonce and sent two. */
  const deviceAfter = async (signedFrames: number, nonceOf: (sent: string) => Uint8Array) => {
    const { sessionId, socketToken } = await claimedSession(partner.api);
    const device = await TestDevice.connect(service.url, sessionId, socketToken);
    t.after(() => device.connection.close());
    await device.expect("welcome");
    await device.passChip(testDocument("passport-valid", service.clock.now()));
    device.send({ type: "face_start", camera: true });
    const challenge = nonceOf((await device.expect("face_challenge")).nonce);
    film(device, [10, 10]);
    const message = framesToSign(
      challenge,
      Array.from({ length: signedFrames }, () => hashOfFrame),
    );
    const { certificates, signature } = attest({ challenge }, message);
    device.send({
      type: "face_done",
      attestation: { certificates: certificates.map(base64), signature: base64(signature) },
    });
    assert.equal((await device.expect("outcome")).status, "succeeded");
    const session = await partner.api.get(`/v1/sessions/${sessionId}`);
    return expectData<{ evidence: { device: string } }>(session).evidence.device;
  };
  const asSent = (nonce: string) => Buffer.from(nonce, "base64");
  assert.equal(await deviceAfter(2, asSent), "attested");
  assert.equal(await deviceAfter(1, asSent), "unattested");
  assert.equal(await deviceAfter(2, () => new Uint8Array(32)), "unattested");
  judged.splice(0);
});

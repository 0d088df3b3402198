import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { artifactFrames, verifySocketLimits } from "@assay/contract/verify-protocol";
import { challengeShape, newChallenge } from "@assay/face/challenge";
import type { FaceJudge, JudgedFrame } from "../../src/face/face-judge.ts";
import { FaceSitting } from "../../src/face/face-sitting.ts";
import { createPartner } from "../support/api.ts";
import { startTestService } from "../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../support/verify-device.ts";

const judged: (readonly JudgedFrame[])[] = [];
/** Sizes of the frames that were looked at before the judgement. */
const looked: number[] = [];
const faceJudge: FaceJudge = {
  begin: () => newChallenge((below) => below - 1, challengeShape),
  close: async () => {},
  follow: () =>
    new FaceSitting(async ({ jpeg }) => {
      looked.push(jpeg.length);
      return { kind: "seen", faces: 0, width: 1, height: 1, face: null, box: null };
    }),
  judge: async ({ frames }) => {
    judged.push(frames);
    return { kind: "failed", code: "liveness_failed", reasons: ["face_still"] };
  },
};
const service = await startTestService({ verify: { examiner: { threads: 1 }, faceJudge } });
const partner = await createPartner(service.api);
const { faceFrames, faceFrameBytes, faceBytes } = verifySocketLimits;

async function atTheCamera(t: TestContext): Promise<TestDevice> {
  const { sessionId, socketToken } = await claimedSession(partner.api);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  await device.passChip(testDocument("passport-valid", service.clock.now()));
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
  const device = await atTheCamera(t);
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
    const device = await atTheCamera(t);
    film(device, sizes);
    device.send({ type: "face_done" });
    await assert.rejects(device.expect("step_result"), new RegExp(`closed with ${code}`));
  }
  assert.deepEqual(judged, []);
});

test("whole frames are looked at while the others are still to come, in the order in which they are judged", async (t) => {
  looked.splice(0);
  const device = await atTheCamera(t);
  const eventually = async (sizes: readonly number[]) => {
    for (let look = 0; look < 500 && looked.length < sizes.length; look++)
      await new Promise((resolve) => setTimeout(resolve, 10));
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

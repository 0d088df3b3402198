import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { newChallenge } from "@assay/face/challenge";
import { sql } from "../../src/db/sql.ts";
import type { FaceJudge } from "../../src/face/face-judge.ts";
import { FaceSitting } from "../../src/face/face-sitting.ts";
import { createPartner } from "../support/api.ts";
import { startTestService } from "../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../support/verify-device.ts";

let judging: Promise<void> = Promise.resolve();
let challenges = 0;
const faceJudge: FaceJudge = {
  begin: () => {
    challenges++;
    return newChallenge((below) => challenges % below);
  },
  close: async () => {},
  follow: () => new FaceSitting(() => null),
  judge: async () => {
    await judging;
    return { kind: "failed", code: "liveness_failed", reasons: [] };
  },
};
/** What devices announced, in all machines. */
const allocated: Buffer[] = [];
const service = await startTestService({
  machines: 2,
  verify: {
    faceJudge,
    // Of a device that does not come back. Longer than one takes that does, on a busy machine.
    timing: { resumeMs: 4_000 },
    allocate: (bytes) => {
      const buffer = Buffer.alloc(bytes);
      allocated.push(buffer);
      return buffer;
    },
  },
});
const [here, there = assert.fail()] = service.machines;
const { core, clock } = service;
const valid = testDocument("passport-valid", clock.now());

/** A device whose chip has passed on the first machine. */
async function passedHere(t: TestContext) {
  const partner = await createPartner(service.api);
  const { sessionId, socketToken } = await claimedSession(partner.api);
  const connect = async (url: string) => {
    const device = await TestDevice.connect(url, sessionId, socketToken);
    t.after(() => device.connection.close());
    return device;
  };
  allocated.length = 0;
  const first = await connect(here.url);
  await first.expect("welcome");
  assert.equal((await first.passChip(valid)).type, "step_result");
  const heldAt = async () =>
    (
      await core.db.one<{ held_at: string | null }>(
        sql`select held_at from attempt_sockets where session_id = ${sessionId}`,
      )
    ).held_at;
  return { connect, first, heldAt, sessionId };
}

/** Its face is judged until the function is called. */
async function faceBeingJudged(device: Awaited<ReturnType<typeof passedHere>>["first"]): Promise<() => void> {
  device.send({ type: "face_start", camera: true });
  await device.expect("face_challenge");
  const { promise, resolve } = Promise.withResolvers<void>();
  judging = promise;
  device.send({ type: "face_done" });
  await device.expect("checking");
  return resolve;
}

test("a chip that has passed follows its device to another machine, and is overwritten where it was", async (t) => {
  const { connect, first, heldAt } = await passedHere(t);
  const before = await heldAt();
  assert.ok(
    allocated.some((bytes) => bytes.some((byte) => byte !== 0)),
    "the portrait is there",
  );
  const second = await connect(there.url);
  const { phase, resumed, tries_left: left } = await second.expect("welcome");
  assert.deepEqual([phase, resumed, left], ["face", true, { chip: 2, face: 3 }]);
  assert.equal(await first.closed(), "REPLACED");
  assert.ok(allocated.every((bytes) => bytes.every((byte) => byte === 0)));
  const after = await heldAt();
  assert.ok(before !== null && after !== null && before !== after, `${before} ${after}`);

  // And back, and the face is compared with what came along.
  const third = await connect(here.url);
  assert.equal((await third.expect("welcome")).phase, "face");
  third.send({ type: "face_start" });
  assert.equal((await third.expect("outcome")).status, "succeeded");
});

test("a challenge that runs goes along, so that moving on gives no other one", async (t) => {
  const { connect, first } = await passedHere(t);
  first.send({ type: "face_start", camera: true });
  const { deadline_ms: before, ...challenge } = await first.expect("face_challenge");
  clock.advance(1000);
  const second = await connect(there.url);
  assert.equal((await second.expect("welcome")).phase, "face_capture");
  const { deadline_ms: left, ...same } = await second.expect("face_challenge");
  assert.deepEqual(same, challenge);
  assert.equal(left, before - 1000);
  second.send({ type: "face_done" });
  assert.equal((await second.expect("step_result")).failure_code, "liveness_failed");
});

test("a face that is being judged is judged to its end, where the chip is", async (t) => {
  const { connect, first } = await passedHere(t);
  const endJudging = await faceBeingJudged(first);
  const second = connect(there.url);
  endJudging();
  const { phase, tries_left: left } = await (await second).expect("welcome");
  assert.deepEqual([phase, left], ["face", { chip: 2, face: 2 }], "the try is counted once");
});

test("a chip that was fetched for a device that has gone meanwhile is forgotten in time", async (t) => {
  const reserved = (machine: typeof here) =>
    Number(/^assay_attempt_bytes (\d+)$/m.exec(machine.core.metrics.render())?.[1]);
  const until = async (holds: () => boolean) => {
    for (const deadline = performance.now() + 20_000; !holds(); await wait(20))
      assert.ok(performance.now() < deadline, `${reserved(here)} and ${reserved(there)} bytes`);
  };
  await until(() => reserved(there) === 0);
  const { connect, first } = await passedHere(t);
  const endJudging = await faceBeingJudged(first);
  const second = await connect(there.url);
  await until(() => reserved(there) > 0);
  second.connection.close();
  endJudging();
  await until(() => reserved(here) === 0 && reserved(there) === 0);
});

test("where the other machine is gone, or ends, the document is read again and no try is lost", async (t) => {
  const { connect, first, sessionId } = await passedHere(t);
  first.connection.close();
  await core.db.run(sql`update attempt_sockets set held_at = '127.0.0.1:1' where session_id = ${sessionId}`);
  const second = await connect(there.url);
  const { phase, tries_left: left } = await second.expect("welcome");
  assert.deepEqual([phase, left], ["chip", { chip: 2, face: 3 }]);
  assert.equal((await second.passChip(valid)).type, "step_result");
});

test("a machine that is stopped keeps what has passed until it was fetched, and ends then", async (t) => {
  const { connect, first } = await passedHere(t);
  const ended = here.drain().then(() => here.close());
  assert.equal(await first.closed(), "SHUTTING_DOWN");
  const second = await connect(there.url);
  assert.equal((await second.expect("welcome")).phase, "face");
  await ended;
  second.send({ type: "face_start" });
  assert.equal((await second.expect("outcome")).status, "succeeded");
});

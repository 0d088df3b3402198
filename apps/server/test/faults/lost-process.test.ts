import assert from "node:assert/strict";
import test from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { systemClock as clock } from "../../src/platform/kernel/clock.ts";
import { Api, createPartner, expectData } from "../support/api.ts";
import { openMachines } from "../support/machines.ts";
import { claimedSession, TestDevice, testDocument } from "../support/verify-device.ts";

const { balancer, startMachine, reach } = await openMachines();
const stays = await startMachine("stays");
reach(stays);
const partner = await createPartner(new Api(balancer.url));

/** What the partner sees of it. */
async function sessionOf(id: string) {
  const session = expectData(await partner.api.get(`/v1/sessions/${id}`));
  return [session.status, session.nfc_tries_used, session.liveness_tries_used];
}

test("a person whose process dies begins the chip step again at another one, no try is lost or counted twice, and the session succeeds", async (t) => {
  const dies = await startMachine("dies-after-the-chip");
  reach(dies);
  const { sessionId, socketToken } = await claimedSession(partner.api);
  const connect = async () => {
    const device = await TestDevice.connect(balancer.url, sessionId, socketToken);
    t.after(() => device.connection.close());
    return device;
  };
  const first = await connect();
  assert.deepEqual((await first.expect("welcome")).tries_left, { chip: 3, face: 3 });
  assert.equal((await first.passChip(testDocument("passport-liveness", clock.now()))).type, "step_result");
  first.send({ type: "face_start" });
  assert.equal((await first.expect("step_result")).failure_code, "liveness_failed");
  await dies.stop("SIGKILL");
  await first.closed();

  reach(stays);
  assert.deepEqual(await sessionOf(sessionId), ["in_progress", 1, 1]);
  const second = await connect();
  const { phase, resumed, tries_left: left } = await second.expect("welcome");
  assert.deepEqual([phase, resumed, left], ["chip", false, { chip: 2, face: 2 }]);
  assert.equal((await second.passChip(testDocument("passport-valid", clock.now()))).type, "step_result");
  assert.deepEqual(await sessionOf(sessionId), ["in_progress", 1, 1]);
  second.send({ type: "face_start" });
  assert.equal((await second.expect("outcome")).status, "succeeded");
  assert.deepEqual(await sessionOf(sessionId), ["succeeded", 1, 2]);
});

test("a device whose process dies while its chip is examined connects again by itself, sends the chip once more and succeeds", async () => {
  const dies = await startMachine("dies-within-the-chip");
  reach(dies);
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const open = virtualPassport(testDocument("passport-valid", clock.now()));
  let proofs = 0;
  const outcome = await runDevice({
    verificationUrl: session.verification_url,
    chip: async (onStep) => {
      const chip = await open(onStep);
      return {
        ...chip,
        answer: async (command) => {
          if (proofs++ === 0) {
            await dies.stop("SIGKILL");
            reach(stays);
          }
          return chip.answer(command);
        },
      };
    },
  });
  assert.equal(outcome.kind, "succeeded", JSON.stringify(outcome));
  assert.ok(proofs > 1, "the chip was examined at both");
  assert.deepEqual(await sessionOf(session.id), ["succeeded", 1, 1]);
});

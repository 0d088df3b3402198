import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import type { ChipSource } from "@assay/device/drive-device";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { TestDevice, testDocument } from "../../support/verify-device.ts";

const service = await startTestService({ verify: { faceJudge: null } });
const partner = await createPartner(service.api);
const valid = testDocument("passport-valid", service.clock.now());

/** The network between device and service: everything that is connected through it can be cut. */
const wires = new Set<Socket>();
const network = createServer((near) => {
  const far = connect(Number(new URL(service.url).port), "127.0.0.1");
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    wires.add(from);
    from.on("error", () => {});
    from.on("close", () => {
      wires.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
});
await new Promise<void>((resolve) => network.listen(0, "127.0.0.1", resolve));
after(() => {
  cut();
  network.close();
});

function cut(): void {
  for (const wire of wires) wire.destroy();
}

async function newSession() {
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const address = network.address();
  assert.ok(address !== null && typeof address === "object");
  const url = new URL(session.verification_url);
  url.host = `127.0.0.1:${address.port}`;
  const tries = async () => {
    const { nfc_tries_used, liveness_tries_used, status } = expectData(
      await partner.api.get(`/v1/sessions/${session.id}`),
    );
    return [nfc_tries_used, liveness_tries_used, status];
  };
  return { id: session.id as string, verificationUrl: url.href, tries };
}

/** The chip of the valid passport; `before` is called before each thing that is asked of it. */
function watched(before: (what: "open" | "read" | "answer" | "reopen") => void | Promise<void>): ChipSource {
  return async (onStep) => {
    await before("open");
    const chip = await virtualPassport(valid)(onStep);
    return {
      ...chip,
      readFiles: async () => {
        await before("read");
        return await chip.readFiles();
      },
      answer: async (command) => {
        await before("answer");
        return await chip.answer(command);
      },
      reopen: async () => {
        await before("reopen");
        await chip.reopen();
      },
    };
  };
}

for (const moment of ["open", "read", "answer"] as const)
  test(`a network that fails when the chip is asked to ${moment} costs the device no try`, async () => {
    const { verificationUrl, tries } = await newSession();
    let cuts = 0;
    const seen: string[] = [];
    const outcome = await runDevice({
      verificationUrl,
      chip: watched((what) => {
        seen.push(what);
        if (what !== moment || cuts > 0) return;
        cuts += 1;
        cut();
      }),
    });
    assert.equal(cuts, 1);
    assert.equal(outcome.kind, "succeeded", JSON.stringify(outcome));
    assert.equal(seen.filter((what) => what === "read").length, 1, "it is read once and sent again");
    if (moment === "answer") assert.ok(seen.includes("reopen"), "its old session is of no use");
    assert.deepEqual(await tries(), [1, 1, "succeeded"]);
  });

test("a chip that leaves the field during its proof is opened again, and no try is used", async () => {
  const { verificationUrl, tries } = await newSession();
  const chip = watched(() => {});
  let lost = 0;
  const outcome = await runDevice({
    verificationUrl,
    chip: async (onStep) => {
      const opened = await chip(onStep);
      return {
        ...opened,
        answer: async (command) => (lost++ < 2 ? "lost" : await opened.answer(command)),
      };
    },
  });
  assert.equal(outcome.kind, "succeeded", JSON.stringify(outcome));
  assert.deepEqual(await tries(), [1, 1, "succeeded"]);
});

for (const fault of [
  new TypeError("a mistake in our own reader"),
  new EmrtdError("APDU_INVALID", "longer than this reader can send"),
])
  test(`${fault.name} in the device while it passes commands on is its own: no try is used for it`, async () => {
    const { verificationUrl, tries } = await newSession();
    const chip = watched((what) => {
      if (what === "answer") throw fault;
    });
    await assert.rejects(runDevice({ verificationUrl, chip }), fault);
    assert.deepEqual(await tries(), [0, 0, "in_progress"]);
  });

test("a device whose place was taken by another socket is out, and does not fight for it", async (t) => {
  const { verificationUrl, id } = await newSession();
  let token = "";
  const welcomed = Promise.withResolvers<void>();
  const outcome = await runDevice({
    verificationUrl,
    fetch: async (...call) => {
      const response = await fetch(...call);
      if (String(call[0]).endsWith("/claim")) {
        const { data } = (await response.clone().json()) as { data: { socket_token: string } };
        token = data.socket_token;
      }
      return response;
    },
    chip: watched(async (what) => {
      if (what !== "read") return;
      const other = await TestDevice.connect(service.url, id, token);
      t.after(() => other.connection.close());
      await other.expect("welcome");
      welcomed.resolve();
    }),
  });
  // The replaced device may notice before the other one does.
  await welcomed.promise;
  assert.deepEqual(outcome, { kind: "closed", sessionId: id, code: "REPLACED" });
});

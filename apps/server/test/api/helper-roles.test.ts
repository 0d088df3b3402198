import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { encode } from "jpeg-js";
import { ChipExaminer, openChipThreads } from "../../src/attempts/chip-examiner.ts";
import type { SentFiles } from "../../src/attempts/chip-task.ts";
import { callChips } from "../../src/attempts/remote-chips.ts";
import type { FaceJob } from "../../src/face/face-job.ts";
import { FaceWorkerPool, WorkerFault } from "../../src/face/face-worker-pool.ts";
import { callFaces } from "../../src/face/remote-faces.ts";
import { CallClient } from "../../src/lib/call-client.ts";
import { KeyRing, parseRing } from "../../src/lib/key-ring.ts";
import { createLog } from "../../src/lib/log.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { CurrentTrust } from "../../src/trust/current-trust.ts";
import { createPartner, expectData } from "../support/api.ts";
import { widths } from "../support/odd-face-models.ts";
import { startHelperProcess } from "../support/process.ts";
import { startTestService, testRing } from "../support/service.ts";
import { testDocument, trustTestCountry } from "../support/verify-device.ts";

const models = fileURLToPath(new URL("../support/odd-face-models.ts", import.meta.url));
const env = {
  SECRET_KEYS: testRing,
  METRICS_TOKEN: "metrics",
  FACE_MODELS_FILE: models,
};
// Without a database, in no folder of their own: the ring is all that they share with the service.
const [chips, spareChips, faces] = await Promise.all([
  startHelperProcess("chip", env),
  startHelperProcess("chip", env),
  startHelperProcess("face", env),
]);
const service = await startTestService({
  env: { CHIP_HOSTS: `${chips.host},${spareChips.host}`, FACE_HOSTS: faces.host },
});
const partner = await createPartner(service.api);
const now = service.clock.now();
const log = createLog({ level: "error", write: () => {}, now: () => new Date(0) });
const clientOf = (role: string, hosts: readonly string[]) =>
  new CallClient({
    role,
    hosts,
    ring: new KeyRing(parseRing(testRing)),
    log,
    metrics: new Metrics(),
    resolveAddresses: async (name) => [name],
  });

const metricsOf = async ({ url }: { url: string }) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: "Bearer metrics" } })).text();

async function verify(document: string) {
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const outcome = await runDevice({
    verificationUrl: session.verification_url,
    chip: virtualPassport(testDocument(document, now)),
  });
  const { status, failure_code } = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
  return { outcome, status, failure_code };
}

test("processes of the roles chip and face tell that they are there, and their figures to whoever may see them", async () => {
  for (const helper of [chips, faces]) {
    assert.deepEqual(await (await fetch(`${helper.url}/healthz`)).json(), { status: "ok" });
    assert.deepEqual(await (await fetch(`${helper.url}/readyz`)).json(), {
      status: "ready",
      overloaded: false,
    });
    assert.equal((await fetch(`${helper.url}/metrics`)).status, 401);
    assert.equal((await fetch(`${helper.url}/v1/sessions`)).status, 404);
  }
  assert.match(await metricsOf(chips), /^assay_verify_checks_waiting 0$/m);
  assert.match(await metricsOf(faces), /^assay_face_queue 0$/m);
});

test("a document is judged by another process exactly as by this one, and what is trusted is sent to it once", async () => {
  await trustTestCountry(service);
  const trust = new CurrentTrust(service.core.db);
  const snapshot = await trust.snapshot();
  const here = new ChipExaminer({ pool: openChipThreads({ threads: 1 }) });
  const there = new ChipExaminer({ pool: callChips(clientOf("chip", [chips.host])) });
  try {
    for (const id of ["passport-valid", "passport-expired", "passport-cloned-chip-authentication"]) {
      const files = testDocument(id, now).files as SentFiles;
      for (const trusted of [snapshot, "test_country"] as const) {
        const input = { trust: trusted, files, now };
        const local = await here.verify(input, () => assert.fail("busy"));
        const remote = await there.verify(input, () => assert.fail("busy"));
        assert.deepEqual(
          { ...remote, content: hexOf(remote.content) },
          { ...local, content: hexOf(local.content) },
        );
        assert.equal(local.failureCode === null, local.content !== null);
      }
    }
    // Six documents, and the lists with the first of them; that one is asked for twice.
    assert.match(await metricsOf(chips), /^assay_calls_served_total\{outcome="answered"\} 8$/m);
  } finally {
    await here.close();
    await there.close();
  }
});

const hexOf = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString("hex");

function jobOf(width: number): FaceJob {
  const picture = (width: number) =>
    new Uint8Array(encode({ data: new Uint8Array(width * 16 * 4).fill(200), width, height: 16 }, 80).data);
  return {
    portrait: picture(widths.fine),
    frames: [{ atMs: 1, receivedAtMs: 2, jpeg: picture(width) }],
  };
}

const faultWith = (reason: string) => (error: unknown) =>
  error instanceof WorkerFault && error.reason === reason;

test("a face is measured by another process exactly as by this one, and its faults come through", async () => {
  const local = new FaceWorkerPool({
    log,
    modelsModule: new URL("../support/odd-face-models.ts", import.meta.url).href,
    readableFolders: [fileURLToPath(new URL("../support/", import.meta.url))],
  });
  const remote = callFaces(clientOf("face", [faces.host]));
  const who = { sandbox: false };
  try {
    assert.equal(await remote.hasPlace(who), true);
    assert.deepEqual(await remote.run(jobOf(widths.fine), who), await local.run(jobOf(widths.fine), who));
    const [{ jpeg } = assert.fail()] = jobOf(widths.fine).frames;
    const look = { jpeg, near: null, mayFollow: 0 };
    assert.deepEqual(await remote.look(look), await local.look(look));
    await assert.rejects(remote.run(jobOf(widths.dies), who), faultWith("worker_died"));
    await assert.rejects(remote.run(jobOf(widths.breaks), who), faultWith("worker_error"));
  } finally {
    await local.close();
    await remote.close();
  }
});

test("people are verified through the processes of other roles, and go on when one of them dies or leaves", async () => {
  const verified = async () => ({
    valid: await verify("passport-valid"),
    cloned: await verify("passport-cloned-chip-authentication"),
  });
  const before = await verified();
  assert.equal(before.valid.status, "succeeded");
  assert.equal(before.cloned.failure_code, "document_chip_authentication_failed");
  assert.equal(await chips.stop("SIGKILL"), null);
  const after = await verified();
  assert.deepEqual(
    [after.valid.status, after.cloned.failure_code],
    ["succeeded", "document_chip_authentication_failed"],
  );
  assert.equal(await spareChips.stop("SIGTERM"), 0);
  // Nobody is left: people are told to wait, and nobody loses a try.
  const session = verify("passport-valid");
  while (!service.logLines.some((line) => line.includes("no process of another role can be reached")))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const port = spareChips.host.split(":")[1] ?? "";
  await startHelperProcess("chip", { ...env, CALL_PORT: port });
  assert.equal((await session).status, "succeeded");
});

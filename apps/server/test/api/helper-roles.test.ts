import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { UserId } from "@assay/contract/ids";
import type { OperatorStatus } from "@assay/contract/operator";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { encode } from "jpeg-js";
import type { Static } from "typebox";
import { ChipExaminer, openChipThreads } from "../../src/attempts/chip-examiner.ts";
import type { SentFiles } from "../../src/attempts/chip-task.ts";
import { callChips } from "../../src/attempts/remote-chips.ts";
import type { FaceJob } from "../../src/face/face-job.ts";
import { FaceWorkerPool, WorkerFault } from "../../src/face/face-worker-pool.ts";
import { callFaces } from "../../src/face/remote-faces.ts";
import { knownId } from "../../src/kernel/ids.ts";
import { CallClient } from "../../src/lib/call-client.ts";
import { KeyRing, parseRing } from "../../src/lib/key-ring.ts";
import { createLog } from "../../src/lib/log.ts";
import { buildVersion } from "../../src/lib/process-metrics.ts";
import { anyone } from "../../src/lib/waiting-line.ts";
import { grantOperator } from "../../src/operator/operator.store.ts";
import { CurrentTrust } from "../../src/trust/current-trust.ts";
import { createPartner, expectData, signUp } from "../support/api.ts";
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
const operator = await signUp(service.api, "Ada Operator");
await grantOperator(service.core.db, knownId<UserId>(operator.userId), service.clock.now());
const now = service.clock.now();
const log = createLog({ level: "error", write: () => {}, now: () => new Date(0) });
const clientOf = (role: string, hosts: readonly string[]) =>
  new CallClient({
    role,
    hosts,
    ring: new KeyRing(parseRing(testRing)),
    log,
    count: () => {},
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

/** What an operator is told about them. */
async function helpersSeen() {
  const { machines } = service;
  await service.runJob("report-process");
  const status: Static<typeof OperatorStatus> = expectData(await operator.api.get("/v1/operator/status"));
  const { helpers, concerns } = status;
  for (const { seen_at, reached_by, unreachable_from } of helpers) {
    assert.equal(seen_at, service.clock.now().toISOString());
    assert.equal(reached_by + unreachable_from.length, machines.length);
  }
  return {
    concerns,
    of: ({ host }: { host: string }) => helpers.find((helper) => helper.host === host) ?? assert.fail(host),
    count: helpers.length,
  };
}

test("an operator sees every process of these roles, with its state, version, age, places and queue, and by whom it was seen", async () => {
  const seen = await helpersSeen();
  assert.equal(seen.count, 3);
  for (const [helper, role] of [
    [chips, "chip"],
    [spareChips, "chip"],
    [faces, "face"],
  ] as const) {
    const { places, started_at, ...told } = seen.of(helper);
    assert.ok((places ?? 0) >= 1);
    const ageMs = service.clock.now().getTime() - Date.parse(started_at ?? "");
    assert.ok(ageMs > 0 && ageMs < 600_000, `${ageMs} ms`);
    assert.deepEqual(told, {
      role,
      host: helper.host,
      address: helper.host,
      state: "free",
      version: buildVersion(),
      working: 0,
      waiting: 0,
      seen_by: `process ${process.pid} on ${hostname()}`,
      seen_at: service.clock.now().toISOString(),
      reached_by: service.machines.length,
      unreachable_from: [],
    });
  }
  assert.ok(!seen.concerns.includes("no_helper") && !seen.concerns.includes("helper_unreachable"));
  const figures = service.machines[0].core.metrics.render();
  assert.match(figures, /^assay_helper_processes\{role="chip",state="free"\} 2$/m);
  assert.match(figures, /^assay_helper_processes\{role="face",state="unreachable"\} 0$/m);
  assert.match(figures, /^assay_helper_waiting\{role="face"\} 0$/m);
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
        const asking = { ...anyone, onBusy: () => assert.fail("busy") };
        const local = await here.verify(input, asking);
        const remote = await there.verify(input, asking);
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
  const dead = await helpersSeen();
  const { state, version, places, reached_by } = dead.of(chips);
  assert.deepEqual([state, version, places, reached_by], ["unreachable", null, null, 0]);
  assert.ok(dead.concerns.includes("helper_unreachable") && !dead.concerns.includes("no_helper"));
  assert.equal(await spareChips.stop("SIGTERM"), 0);
  assert.ok((await helpersSeen()).concerns.includes("no_helper"));
  // Nobody is left: people are told to wait, and nobody loses a try.
  const session = verify("passport-valid");
  while (!service.logLines.some((line) => line.includes("no process of another role can be reached")))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const port = spareChips.host.split(":")[1] ?? "";
  await startHelperProcess("chip", { ...env, CALL_PORT: port });
  assert.equal((await session).status, "succeeded");
});

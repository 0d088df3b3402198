import assert from "node:assert/strict";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { collect } from "../../../../scripts/image/collect.ts";
import { anyone } from "../../src/platform/lib/waiting-line.ts";
import { WorkerPool } from "../../src/platform/lib/worker-pool.ts";
import { packTrust } from "../../src/verification/trust/trust-snapshot.ts";
import type { TrustSurvey, TrustTask } from "../../src/verification/trust/trust-task.ts";
import { Api, createPartner, expectData } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { assay, launchAssay } from "../support/process.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";

// Beside no `node_modules` and no source: whatever is missing in the image is missing here.
const folder = mkdtempSync(join(tmpdir(), "assay-built-"));
collect(folder, { embedded: false });
const main = join(folder, "apps/server/dist/main.js");
const database = await createTestDatabase();
const env = { DATABASE_URL: database.url, SECRET_KEYS: testRing, DATA_DIR: join(folder, "data") };
const service = launchAssay({ ...env, FACE_WORKERS: "1" }, { file: main });
after(async () => {
  await service.stop("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
const api = new Api(await service.listening);

test("the built service has no source beside it", () => {
  const sources = globSync("{apps,packages}/*/src/**/*.ts", { cwd: folder });
  assert.deepEqual(
    sources.filter((file) => !file.endsWith(".d.ts")),
    [],
  );
});

test("the built service verifies a person: its threads check the chip, its sandboxed process the face", async () => {
  const partner = await createPartner(api);
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const words = ["simulate", session.verification_url, "--passport", "valid", "--camera"];
  const { code, stdout, stderr } = await assay(words, {}, main);
  assert.equal(code, 0, `${stdout}${stderr}${service.output()}`);
  assert.match(stdout, /Succeeded\.\n$/);
});

test("the built service reads what it trusts in a thread", async () => {
  const threads = new WorkerPool<TrustTask, TrustSurvey>(
    pathToFileURL(join(folder, "apps/server/dist/trust-worker.js")),
    { threads: 1, maxWaiting: 1, taskMs: 60_000 },
  );
  const task: TrustTask = { kind: "survey", trust: packTrust(1, []), nowMs: Date.now() };
  assert.deepEqual((await threads.run(task, anyone)).countries, []);
  await threads.close();
});

test("the built service finds the files that it serves", async () => {
  for (const path of [
    "/",
    "/docs/operating",
    "/reference",
    "/dashboard",
    "/verify/",
    "/embed/v1.js",
    "/embed/v1.d.ts",
    "/assets/pages.css",
    "/assets/pages.js",
    "/assets/fonts/inter-latin.woff2",
  ]) {
    const { status } = await fetch(`${api.url}${path}`);
    assert.equal(status, 200, path);
  }
});

test("a fault of the built service names the line of its source in the log", async () => {
  const partner = await createPartner(api);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("alter table sessions rename to gone");
  await client.end();
  assert.equal((await partner.api.get("/v1/sessions")).status, 500);
  const faultLine = () =>
    service
      .output()
      .split("\n")
      .find((line) => line.includes('"sqlState":"42P01"'));
  await until("the fault is logged", () => faultLine() !== undefined);
  assert.match(faultLine() ?? "", /"place":"[^"]*apps\/server\/src\/[a-z/.-]+\.ts:\d+:\d+/);
});

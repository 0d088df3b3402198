import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Api, createPartner, expectData, expectError, readAll } from "../support/api.ts";
import { killServer, serverProcess } from "../support/postgres-processes.ts";
import { startAssay } from "../support/process.ts";

const clients = 4;
const folder = mkdtempSync(join(tmpdir(), "assay-full-disk-"));
chmodSync(folder, 0o711);
// Root in a container may lack the right to mount.
const mounted =
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=160m,mode=0711", "assay-test", folder]).status === 0;
const dataDir = join(folder, "data");
const ballast = join(folder, "ballast");
/** One service for both tests. */
let shared: Awaited<ReturnType<typeof startOnDisk>> | null = null;
after(() => {
  if (mounted) {
    shared?.service.child.kill("SIGKILL");
    killServer(dataDir);
    for (let i = 0; i < 50 && spawnSync("umount", [folder]).status !== 0; i++) spawnSync("sleep", ["0.1"]);
  }
  rmSync(folder, { recursive: true, force: true });
});

if (mounted) shared = await startOnDisk();

async function startOnDisk() {
  const service = await startAssay({ DATA_DIR: dataDir });
  const { api } = await createPartner(new Api(service.url));
  return { service, api };
}

/** Fills the disk. */
function fillUp(): void {
  mkdirSync(ballast);
  for (let bytes = 8 * 1024 * 1024, n = 0; bytes >= 4096; n++) {
    try {
      writeFileSync(join(ballast, String(n)), Buffer.alloc(bytes));
    } catch {
      bytes /= 2;
    }
  }
  assert.ok(readdirSync(ballast).length > 0);
}

test("a start on a small disk warns of it; a full disk makes the process not ready, with the reason, until there is room", {
  skip: mounted ? false : "needs root and the right to mount",
}, async () => {
  const { service, api } = shared ?? assert.fail("there is no service");
  const readiness = async () => {
    const answer = await fetch(`${service.url}/readyz`);
    const { reason } = (await answer.json()) as { reason?: string };
    return `${answer.status} ${reason ?? "ready"}`;
  };
  assert.equal(await readiness(), "200 ready");
  assert.match(service.output(), /"warn","message":"The disk of \S+ has \d+ MB free\. When it is full, /);
  fillUp();
  // Until the existing pages are full.
  const deadline = Date.now() + 200_000;
  for (;;) {
    const answer = await api.post("/v1/sessions", { client_reference_id: "x".repeat(60) });
    if (answer.status !== 201) {
      expectError(answer, 503, "SERVICE_UNAVAILABLE");
      break;
    }
    assert.ok(Date.now() < deadline, "the disk never became full");
  }
  for (let probe = 0; probe < 5; probe++)
    assert.equal(await readiness(), "503 the disk of the database is full");
  rmSync(ballast, { recursive: true });
  assert.equal(await readiness(), "200 ready");
  expectData(await api.post("/v1/sessions", {}), 201);
});

test("a full disk and a server that cannot recover on it refuse requests; with room again all is as acknowledged", {
  skip: mounted ? false : "needs root and the right to mount",
}, async () => {
  const { service, api } = shared ?? assert.fail("there is no service");
  const acknowledged: string[] = [];
  let refused = 0;
  let loading = true;
  const makeSessions = async () => {
    while (loading) {
      const answer = await api.post("/v1/sessions", {});
      if (answer.status === 201) acknowledged.push(expectData(answer, 201).id);
      else {
        expectError(answer, 503, "SERVICE_UNAVAILABLE");
        refused++;
        await wait(10);
      }
    }
  };
  const load = Promise.all(Array.from({ length: clients }, makeSessions));
  load.catch(() => {});
  const until = async (what: string, condition: () => boolean) => {
    const deadline = Date.now() + 90_000;
    while (!condition()) {
      assert.ok(Date.now() < deadline, `never happened: ${what}\n${service.output().slice(-5000)}`);
      await Promise.race([load, wait(10)]);
    }
  };

  await until("sessions are made", () => acknowledged.length >= 20);
  fillUp();
  // The server restarts its processes, and its recovery finds no space to write.
  process.kill(serverProcess(dataDir, /assay_service assay \[local\]/), "SIGKILL");
  await until("requests are refused", () => refused >= 20);
  const before = acknowledged.length;
  rmSync(ballast, { recursive: true });
  await until("sessions are made again", () => acknowledged.length >= before + 20);
  loading = false;
  await load;

  assert.equal(service.child.exitCode, null, service.output());
  const found = new Set((await readAll(api, "/v1/sessions", {}, 100)).map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !found.has(id)),
    [],
  );
  assert.equal(await service.stop(), 0, service.output());
  const lines = service
    .output()
    .split("\n")
    .filter((line) => /"message":"(FATAL|PANIC|LOG): /.test(line));
  for (const line of lines.filter((entry) => /terminated by signal|PANIC/.test(entry)))
    assert.match(line, /"level":"(warn|error)"/);
  assert.ok(lines.some((line) => /terminated by signal 9/.test(line)));
});

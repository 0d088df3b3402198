import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { ChipSource } from "@assay/device/drive-device";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { listMigrations, type Migration, migrate } from "../../src/platform/db/migrate.ts";
import { Api, createPartner, expectData } from "../support/api.ts";
import { Balancer } from "../support/balancer.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { type AssayProcess, startAssay } from "../support/process.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";
import { testDocument } from "../support/verify-device.ts";

const clients = 2;
const devices = 2;
/** The capacity is not the subject. */
const pauseMs = 150;
/** The time of a reading, so that most devices are at their chip when a process ends. */
const readingMs = 800;

const folder = mkdtempSync(join(tmpdir(), "assay-rolling-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const made = (name: string, text: string): Migration => ({ name, text, checksum: `of ${name}` });
/** The migrations of the next release. The processes that run meanwhile are of the release before. */
const next = [
  ...listMigrations(),
  made(
    "9001_columns.sql",
    "-- phase: expand\nalter table sessions add column made_by_a_test integer default 7;",
  ),
  made(
    "9002_index.sql",
    "-- phase: expand\n-- transaction: none\ncreate index concurrently if not exists made_by_a_test on sessions (made_by_a_test);",
  ),
  made(
    "9003_less.sql",
    "-- phase: contract, code since 9001\nalter table sessions drop column made_by_a_test;",
  ),
];

test("an update at noon: migrations under load and every process replaced, with no request failed and no try lost", async () => {
  const database = await createTestDatabase();
  const balancer = await Balancer.start();
  const start = async (): Promise<AssayProcess> => {
    const port = await freePort();
    const started = await startAssay({
      PORT: String(port),
      DATABASE_URL: database.url,
      SECRET_KEYS: testRing,
      DATA_DIR: folder,
      PUBLIC_URL: balancer.url,
      DRAIN_SECONDS: "1",
      DRAIN_ATTEMPT_SECONDS: "10",
      SKIP_MIGRATIONS: "true",
      FACE_WORKERS: "1",
    });
    const url = `http://127.0.0.1:${port}`;
    balancer.add(url);
    return { ...started, url };
  };
  const processes = [await start(), await start()];
  const partner = await createPartner(new Api(balancer.url));

  let going = true;
  const counts = { requests: 0, verified: 0 };
  const call = async () => {
    const { id } = expectData(await partner.api.post("/v1/sessions", {}), 201);
    expectData(await partner.api.get(`/v1/sessions/${id}`));
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`)).status, 204);
    counts.requests += 3;
  };
  const verifyOne = async () => {
    const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
    let reads = 0;
    const passport = virtualPassport(testDocument("passport-valid", new Date()));
    const chip: ChipSource = async (onStep) => {
      const opened = await passport(onStep);
      const readFiles = async () => {
        reads += 1;
        await wait(readingMs);
        return opened.readFiles();
      };
      return { ...opened, readFiles };
    };
    const { kind } = await runDevice({ verificationUrl: session.verification_url, chip });
    const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.deepEqual([kind, reads, ended.nfc_tries_used, ended.liveness_tries_used], ["succeeded", 1, 1, 1]);
    counts.verified += 1;
  };
  const repeat = async (work: () => Promise<void>) => {
    while (going) {
      await work();
      await wait(pauseMs);
    }
  };
  const load = Promise.all([
    ...Array.from({ length: clients }, () => repeat(call)),
    ...Array.from({ length: devices }, () => repeat(verifyOne)),
  ]);
  load.catch(() => {});

  await until("the load has begun", () => counts.requests > 0 && counts.verified > 0);
  const putOff: string[] = [];
  const applied = await migrate(database.url, { migrations: next, onPostponed: (name) => putOff.push(name) });
  assert.deepEqual([applied, putOff], [["9001_columns.sql", "9002_index.sql"], ["9003_less.sql"]]);
  for (const old of processes) {
    await start();
    assert.equal(await old.stop(), 0, old.output());
    balancer.remove(old.url);
  }
  going = false;
  await load.catch((error) => assert.fail(`${error.stack}\n${balancer.failures.join("\n")}`));
  assert.deepEqual(balancer.failures, []);
});

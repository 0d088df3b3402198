import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Api, createPartner, expectData } from "../support/api.ts";
import { createTestDatabase } from "../support/database.ts";
import { startAssay } from "../support/process.ts";
import { testRing } from "../support/test-ring.ts";

test("idle connections do not take the last file descriptors: the service stays ready, and others are served when they are gone", {
  skip: process.platform !== "linux",
}, async () => {
  const database = await createTestDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), "assay-files-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const service = await startAssay(
    { DATA_DIR: dataDir, DATABASE_URL: database.url, SECRET_KEYS: testRing },
    { openFiles: 256 },
  );
  assert.match(service.output(), /too low for HTTP_MAX_CONNECTIONS/);
  const { api } = await createPartner(new Api(service.url));
  const { port } = new URL(service.url);
  const idle: Socket[] = [];
  for (let i = 0; i < 400; i++) {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
    idle.push(socket);
    await Promise.race([once(socket, "connect"), once(socket, "close")]);
  }
  // Over the connection that is open since before.
  assert.equal((await api.get("/readyz")).status, 200);
  expectData(await api.post("/v1/sessions", {}), 201);
  for (const socket of idle) socket.destroy();
  expectData(await api.post("/v1/sessions", {}), 201);
  assert.doesNotMatch(service.output(), /key ring|EMFILE/);
});

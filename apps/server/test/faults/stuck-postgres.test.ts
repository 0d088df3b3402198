import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { embeddedFolders } from "../../src/platform/installation/postgres/cluster.ts";
import { startEmbeddedPostgres } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import {
  cleanUpAfterFile,
  hold,
  query,
  start,
  usedDataDir,
  withoutSetpriv,
} from "../support/held-postgres.ts";
import {
  killAll,
  killServer,
  serverPid,
  serverProcess,
  serverProcesses,
} from "../support/postgres-processes.ts";
import { until } from "../support/until.ts";

cleanUpAfterFile();

const withinMs = 60_000;

/** A start that must not hang, its output, and every row that was acknowledged before. */
async function startsSoon(dataDir: string, acknowledged: readonly number[]) {
  const lines: string[] = [];
  const starting = startEmbeddedPostgres({
    dataDir,
    env: process.env,
    log: (line, level) => lines.push(`${level} ${line}`),
  });
  const late = wait(withinMs, null, { ref: false });
  const server = await Promise.race([starting, late]);
  assert.ok(server, `no server after ${withinMs} ms:\n${lines.join("\n")}`);
  try {
    const found = new Set((await query(server.url, "select n from written")).map((row) => Number(row.n)));
    assert.deepEqual(
      acknowledged.filter((n) => !found.has(n)),
      [],
    );
  } finally {
    await server.stop();
  }
  assert.equal(serverPid(dataDir), null);
  return { lines: lines.join("\n") };
}

const serverParts = [
  ["a backend", /assay_service assay \[local\]/],
  ["the checkpointer", /: checkpointer/],
  ["the log writer", /: walwriter/],
] as const;

test("one process of the server is killed at the moment its owner is: the next start is ready and every acknowledged row is there", async () => {
  const dataDir = await usedDataDir();
  const acknowledged: number[] = [];
  // The server restarts its processes for tens of milliseconds: at the beginning, in the middle, after.
  const pausesMs = [10, 0, 40];
  for (const [index, [, title]] of serverParts.entries()) {
    const held = await hold(dataDir, "write");
    await until("some rows are written", () => held.wrote.length >= 20);
    process.kill(serverProcess(dataDir, title), "SIGKILL");
    await wait(pausesMs[index]);
    held.child.kill("SIGKILL");
    await held.ended;
    acknowledged.push(...held.wrote);
    await startsSoon(dataDir, acknowledged);
  }
});

describe("a server that is stuck", { concurrency: 5 }, () => {
  test("while it stops, with a dead owner, is ended by the next start, which says what it waits for", async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir, "write", await withoutSetpriv(dataDir));
    await until("some rows are written", () => held.wrote.length >= 20);
    const pid = serverPid(dataDir) ?? 0;
    process.kill(serverProcess(dataDir, /: checkpointer/), "SIGSTOP");
    held.child.kill("SIGKILL");
    await held.ended;
    process.kill(pid, "SIGINT");
    const { lines } = await startsSoon(dataDir, held.wrote);
    assert.match(lines, new RegExp(`warn waiting for 2 s: PostgreSQL with process id ${pid} is stopping; `));
  });

  test("and does not even react to signals is killed by the next start", async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir, "write", await withoutSetpriv(dataDir));
    await until("some rows are written", () => held.wrote.length >= 20);
    for (const pid of serverProcesses(dataDir)) process.kill(pid, "SIGSTOP");
    held.child.kill("SIGKILL");
    await held.ended;
    await startsSoon(dataDir, held.wrote);
  });

  test("in one process that outlives the others is killed by the next start", async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir, "write");
    await until("some rows are written", () => held.wrote.length >= 20);
    process.kill(serverProcess(dataDir, /assay_service assay \[local\]/), "SIGSTOP");
    const pid = serverPid(dataDir) ?? 0;
    process.kill(pid, "SIGKILL");
    held.child.kill("SIGKILL");
    await held.ended;
    await startsSoon(dataDir, held.wrote);
  });

  test("leaves a server of another folder alone, though its number is in the lock file", async () => {
    const [dataDir, otherDir] = [await usedDataDir(), await usedDataDir()];
    const held = await hold(dataDir, "write");
    await until("some rows are written", () => held.wrote.length >= 20);
    const lockFile = path.join(embeddedFolders(dataDir).data, "postmaster.pid");
    const content = await readFile(lockFile, "utf8");
    held.child.kill("SIGSTOP");
    killAll(serverProcesses(dataDir));
    held.child.kill("SIGKILL");
    await held.ended;
    const other = await start(otherDir);
    try {
      const pid = serverPid(otherDir);
      await writeFile(lockFile, content.replace(/^\d+/, String(pid)));
      await startsSoon(dataDir, held.wrote);
      assert.equal(serverPid(otherDir), pid);
      assert.deepEqual(await query(other.url, "select 1 as one"), [{ one: 1 }]);
    } finally {
      await other.stop();
    }
  });

  test("an empty lock file, as a crash of the machine leaves it, does not stop the next start", async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir, "write");
    await until("some rows are written", () => held.wrote.length >= 20);
    killServer(dataDir);
    held.child.kill("SIGKILL");
    await held.ended;
    await until("all have ended", () => serverProcesses(dataDir).length === 0);
    await writeFile(path.join(embeddedFolders(dataDir).data, "postmaster.pid"), "");
    await startsSoon(dataDir, held.wrote);
  });
});

describe("while its owner runs", { concurrency: 5 }, () => {
  test("kill -9 of any of its processes is mended", async () => {
    const dataDir = await usedDataDir();
    const server = await start(dataDir);
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => {});
    await client.connect();
    // When one of its processes dies, the server ends the others and starts all of them again.
    const checkpointer = () => serverProcess(dataDir, /: checkpointer/);
    const isBack = async (before: number) => {
      try {
        // The list of all processes costs most, so it comes last.
        return (await query(server.url, "select n from kept"))[0]?.n === 5 && checkpointer() !== before;
      } catch {
        return false;
      }
    };
    try {
      await client.query("create table kept as select 5 as n");
      for (const [name, title] of serverParts) {
        const before = checkpointer();
        process.kill(serverProcess(dataDir, title), "SIGKILL");
        await until(`the server is back after the end of ${name}`, () => isBack(before));
      }
    } finally {
      await client.end();
      await server.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });

  test("a server that somebody else tells to stop, and that cannot, is started again", async () => {
    const dataDir = await usedDataDir();
    const server = await start(dataDir);
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => {});
    await client.connect();
    try {
      await client.query("create table kept as select 6 as n");
      const pid = serverPid(dataDir) ?? 0;
      // A smart shutdown waits for every client, and takes no new one.
      process.kill(pid, "SIGTERM");
      await until("another server is being started", () => serverPid(dataDir) !== pid);
      await until("another server is there", () =>
        query(server.url, "select n from kept").then(
          (rows) => rows[0]?.n === 6,
          () => false,
        ),
      );
      assert.notEqual(serverPid(dataDir), pid);
    } finally {
      await client.end();
      await server.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });

  test("a server that takes no connection any more is started again", async () => {
    const dataDir = await usedDataDir();
    const server = await start(dataDir);
    try {
      await query(server.url, "create table kept as select 7 as n");
      const pid = serverPid(dataDir) ?? 0;
      process.kill(pid, "SIGSTOP");
      const deadline = Date.now() + 120_000;
      while (serverPid(dataDir) === pid && Date.now() < deadline) await wait(100);
      await until("another server is there", () =>
        query(server.url, "select n from kept").then(
          (rows) => rows[0]?.n === 7,
          () => false,
        ),
      );
      assert.notEqual(serverPid(dataDir), pid);
    } finally {
      await server.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });
});

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { asOrdinaryUser, canBecomeOrdinary, ordinaryUserReadsAll } from "../support/ordinary-user.ts";
import { killServer } from "../support/postgres-processes.ts";
import { cleanEnvironment, startAssay } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const main = new URL("../../dist/main.js", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "assay-failed-start-"));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true, force: true }));

const isRoot = process.geteuid?.() === 0;
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

/** Starts a service that must fail, and returns its output. One that hangs is killed: no exit code. */
async function failToStart(env: Record<string, string>, isOrdinary = false) {
  const command = [process.execPath, main, "start"];
  const [program = "", ...args] = isOrdinary && canBecomeOrdinary ? asOrdinaryUser(command) : command;
  const child = spawn(program, args, { env: cleanEnvironment(env), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += chunk;
    });
  const patience = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const [code] = await once(child, "close");
  clearTimeout(patience);
  return { code, said };
}

/** A program that occupies a port. */
async function occupyPort(): Promise<number> {
  const port = await freePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  return port;
}

test("a second start in the same folder says in one sentence that the port is taken, and ends", async () => {
  const port = await freePort();
  const env = { DATA_DIR: join(folder, "first"), PORT: String(port) };
  const running = await startAssay(env);
  assert.deepEqual(await failToStart(env), {
    code: 1,
    said: `Another program uses port ${port}. Stop it, or start with PORT=${port + 1} npm start.\n`,
  });
  assert.equal((await fetch(`${running.url}/readyz`)).status, 200);
  assert.equal(await running.stop(), 0);
});

test("a start that cannot listen makes no database, and says what to do about the address", async () => {
  const port = await occupyPort();
  const free = String(await freePort());
  const dataDir = join(folder, "never");
  const cases: [Record<string, string>, RegExp][] = [
    [
      { PORT: String(port) },
      /^Another program uses port \d+\. Stop it, or start with PORT=\d+ npm start\.\n$/,
    ],
    [
      { PORT: free, METRICS_PORT: String(port) },
      /^Another program uses port .* start with METRICS_PORT=\d+ npm start\.\n$/,
    ],
    [
      { PORT: free, HOST: "no-such-host.invalid" },
      /^HOST is "no-such-host\.invalid", which is not a name of this machine\. .*\n$/,
    ],
    // Reserved for documentation, so no machine has it.
    [
      { PORT: free, HOST: "192.0.2.1" },
      /^HOST is "192\.0\.2\.1", which is not an address of this machine\. .*\n$/,
    ],
  ];
  for (const [env, sentence] of cases) {
    const { code, said } = await failToStart({ DATA_DIR: dataDir, ...env });
    assert.match(said, sentence);
    assert.equal(code, 1);
  }
  assert.equal(existsSync(dataDir), false);
});

test("an ordinary user who asks for a port of the system is told to take another one", {
  skip: canBecomeOrdinary ? false : "needs root and setpriv, to become an ordinary user",
}, async () => {
  const { code, said } = await failToStart({ PORT: "80", DATA_DIR: join(folder, "never") }, true);
  assert.match(said, /^Only an administrator may use port 80\. Start with .* PORT=3000 npm start, .*\n$/);
  assert.equal(code, 1);
});

test("a data folder that this user may not make or use is a sentence with what to do", async () => {
  const closed = join(folder, "closed");
  mkdirSync(closed);
  writeFileSync(join(closed, "secret-keys"), "", { mode: 0o600 });
  chmodSync(closed, isRoot ? 0o755 : 0o500);
  if (!isRoot) chmodSync(join(closed, "secret-keys"), 0o000);
  const cases: [dataDir: string, sentence: RegExp][] = [
    [
      join(closed, "data"),
      /^This user \(id \d+\) cannot create .*, or set DATA_DIR to a folder that this user can write\.\n$/,
    ],
    [
      closed,
      /^This user \(id \d+\) cannot use .*Start Assay as that user, change the owner with chown -R .*\n$/,
    ],
  ];
  for (const [dataDir, sentence] of ordinaryUserReadsAll ? cases.slice(0, 1) : cases) {
    const { code, said } = await failToStart({ PORT: "0", DATA_DIR: dataDir }, true);
    assert.match(said, sentence);
    assert.equal(code, 1);
  }
  const file = join(folder, "file");
  writeFileSync(file, "");
  const { code, said } = await failToStart({ PORT: "0", DATA_DIR: file });
  assert.equal(
    said,
    `${file} is not a folder, or a part of its path is a file. Set DATA_DIR to a folder that this user can write.\n`,
  );
  assert.equal(code, 1);
});

test("a disk without room for a new database is refused before anything is written", async (context) => {
  const disk = join(folder, "disk");
  mkdirSync(disk);
  // Root in a container may lack the right to mount.
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=40m,mode=0711", "assay-test", disk]).status !== 0)
    return context.skip("needs root and the right to mount");
  try {
    const dataDir = join(disk, "data");
    const { code, said } = await failToStart({ PORT: "0", DATA_DIR: dataDir });
    assert.match(
      said,
      /^The disk of \S+ has \d+ MB free, and a new database needs at least 64\. Free some space, .*\n$/,
    );
    assert.equal(code, 1);
    assert.equal(existsSync(join(dataDir, "postgres")), false);
  } finally {
    killServer(join(disk, "data"));
    for (let i = 0; i < 50 && spawnSync("umount", [disk]).status !== 0; i++) spawnSync("sleep", ["0.1"]);
  }
});

test("a service that fails while it starts closes what it has opened", async () => {
  const { url } = await createTestDatabase();
  const port = await occupyPort();
  await assert.rejects(startTestService({ databaseUrl: url, machines: 1, env: { PORT: String(port) } }), {
    code: "EADDRINUSE",
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select application_name from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  await client.end();
  assert.deepEqual(rows, []);
});

test("a service that listens on every address says one that a person can open", {
  skip: hasIpv6 ? false : "this machine has no IPv6",
}, async () => {
  const { url } = await createTestDatabase();
  const service = await startTestService({ databaseUrl: url, machines: 1, env: { HOST: "::" } });
  assert.match(service.url, /^http:\/\/\[::1\]:\d+$/);
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
});

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, chown, lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { embeddedFolders } from "../../src/platform/installation/postgres/cluster.ts";
import { startEmbeddedPostgres } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { ExplainedError } from "../../src/platform/lib/explained-error.ts";
import {
  children,
  cleanUpAfterFile,
  helper,
  hold,
  newFolder,
  query,
  scratch,
  start,
  usedDataDir,
  withoutSetpriv,
} from "../support/held-postgres.ts";
import { canBecomeOrdinary, ordinaryUser } from "../support/ordinary-user.ts";
import { killAll, killServer, serverPid, serverProcesses } from "../support/postgres-processes.ts";
import { until } from "../support/until.ts";

cleanUpAfterFile();

const isRoot = process.geteuid?.() === 0;
const hasSetpriv = spawnSync("setpriv", ["--pdeathsig", "INT", "--", "/bin/true"]).status === 0;

describe("a start on a new folder", () => {
  test("makes a UTF-8 cluster with checksums and small files of the log that listens on no network, in folders that no other user can enter", async () => {
    const dataDir = path.join(await newFolder(), "data");
    const server = await start(dataDir);
    try {
      const [row] = await query(
        server.url,
        `select current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums,
           current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
           current_setting('wal_segment_size') as log_file,
           upper('ä') as upper, 'Z' < 'a' as by_code_point`,
      );
      assert.deepEqual(row, {
        encoding: "UTF8",
        checksums: "on",
        addresses: "",
        fsync: "on",
        log_file: "1MB",
        upper: "Ä",
        by_code_point: true,
      });
      for (const place of [embeddedFolders(dataDir).base, server.host])
        assert.equal((await lstat(place)).mode & 0o777, 0o700, place);
    } finally {
      await server.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });

  test("moves the socket to a short path when DATA_DIR is deep", async () => {
    const folder = await newFolder();
    const deep = await usedDataDir(path.join(folder, "d".repeat(60), "e".repeat(60)));
    const server = await start(deep);
    try {
      assert.ok(Buffer.byteLength(`${server.host}/.s.PGSQL.5432`) <= 107);
      assert.equal((await lstat(server.host)).mode & 0o777, 0o700);
      assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
    } finally {
      await server.stop();
      await rm(server.host, { recursive: true, force: true });
    }
  });

  test("does not put its socket where somebody else laid a link", async () => {
    const folder = await newFolder();
    const deep = await usedDataDir(path.join(folder, "d".repeat(60), "f".repeat(60)));
    const server = await start(deep);
    const host = server.host;
    await server.stop();
    await rm(host, { recursive: true });
    await symlink(folder, host);
    try {
      await assert.rejects(start(deep), ExplainedError);
    } finally {
      await rm(host);
    }
  });

  test("killed in the middle of creating the database leaves nothing half made", async () => {
    const folder = await newFolder();
    const dataDir = path.join(folder, "data");
    const { base, data } = embeddedFolders(dataDir);
    const child = spawn(process.execPath, [helper, "hold", dataDir], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("close", resolve));
    // The attempt has begun to fill, but is far from complete.
    await until("creation begins", () =>
      (existsSync(base) ? readdirSync(base) : []).some((name) =>
        existsSync(path.join(base, name, "PG_VERSION")),
      ),
    );
    child.kill("SIGKILL");
    await ended;
    assert.equal(existsSync(data), false);
    const server = await start(dataDir);
    try {
      assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
      assert.deepEqual(
        readdirSync(base).filter((name) => name.startsWith("data")),
        ["data"],
      );
    } finally {
      await server.stop();
    }
  });
});

describe("the account the server runs as", () => {
  test("as root it is not root", { skip: isRoot ? false : "needs root" }, async () => {
    const dataDir = await usedDataDir();
    const server = await start(dataDir);
    try {
      const uid = (await lstat(`/proc/${serverPid(dataDir)}`)).uid;
      assert.notEqual(uid, 0);
      assert.equal((await lstat(embeddedFolders(dataDir).data)).uid, uid);
      assert.match(server.notes.join(" "), /Running as root/);
    } finally {
      await server.stop();
    }
  });

  test("as root it also starts below a home of mode 0700, and owns nothing else there", {
    skip: isRoot && hasSetpriv ? false : "needs root and setpriv",
  }, async () => {
    const home = await newFolder(tmpdir(), 0o700);
    const dataDir = await usedDataDir(path.join(home, "data"));
    const server = await start(dataDir);
    try {
      assert.match(server.notes.join(" "), /closed to other users/);
      await query(server.url, "create table kept (n int)");
      const status = await readFile(`/proc/${serverPid(dataDir)}/status`, "utf8");
      assert.doesNotMatch(status, /^Uid:\s+0\b/m);
      // dac_read_search and nothing else.
      assert.match(status, /^CapEff:\s+0000000000000004$/m);
      assert.match(status, /^CapBnd:\s+0000000000000004$/m);
    } finally {
      await server.stop();
    }
    assert.equal((await lstat(home)).uid, 0);
  });

  test("an ordinary user starts it as itself, below a home of mode 0700", {
    skip: canBecomeOrdinary ? false : "needs root and setpriv to become another user",
  }, async () => {
    const home = await newFolder(tmpdir(), 0o700);
    await chown(home, ordinaryUser.uid, ordinaryUser.gid);
    const dataDir = path.join(home, "data");
    const held = await hold(dataDir, "hold", { asOrdinaryUser: true });
    assert.deepEqual(held.notes, []);
    assert.equal((await lstat(`/proc/${serverPid(dataDir)}`)).uid, ordinaryUser.uid);
    held.child.kill("SIGTERM");
    await held.ended;
    assert.equal(serverPid(dataDir), null);
  });

  test("data of another user is refused with both user ids in the message", {
    skip: canBecomeOrdinary ? false : "needs root and setpriv to become another user",
  }, async () => {
    const dataDir = await usedDataDir();
    await chown(path.join(dataDir, "postgres"), 1, 1);
    await chown(path.join(dataDir, "postgres", "data"), 1, 1);
    await chmod(path.join(dataDir, "postgres"), 0o755);
    await assert.rejects(
      hold(dataDir, "hold", { asOrdinaryUser: true }),
      /belongs to user id 1, but this process is user id 65534/,
    );
  });
});

describe("two starts on one folder", () => {
  test("use one server, and the second leaves it running when it stops", async () => {
    const dataDir = await usedDataDir();
    const first = await start(dataDir);
    const pid = serverPid(dataDir);
    const second = await hold(dataDir);
    assert.equal(serverPid(dataDir), pid);
    await query(second.url, "create table shared (n int)");
    second.child.kill("SIGTERM");
    await second.ended;
    assert.equal(serverPid(dataDir), pid);
    assert.deepEqual(await query(first.url, "select count(*)::int as n from shared"), [{ n: 0 }]);
    await first.stop();
    assert.equal(serverPid(dataDir), null);
  });

  test("use one server also when the folder is reached through a link", async () => {
    const folder = await newFolder();
    const dataDir = await usedDataDir(path.join(folder, "data"));
    const first = await start(dataDir);
    try {
      await symlink(dataDir, path.join(folder, "link"));
      const second = await start(path.join(folder, "link"));
      assert.equal(second.url, first.url);
      await second.stop();
      assert.deepEqual(await query(first.url, "select 1 as one"), [{ one: 1 }]);
    } finally {
      await first.stop();
    }
  });

  test("at the very same moment on a new folder end up with one cluster", async () => {
    const dataDir = path.join(await newFolder(), "data");
    const all = await Promise.all([hold(dataDir), hold(dataDir)]);
    const ids = await Promise.all(
      all.map((one) =>
        query(
          one.url,
          "select system_identifier::text as id, pg_postmaster_start_time() as since from pg_control_system()",
        ),
      ),
    );
    assert.deepEqual(ids[1], ids[0]);
    for (const one of all) one.child.kill("SIGTERM");
    await Promise.all(all.map((one) => one.ended));
    assert.equal(serverPid(dataDir), null);
  });

  test("when the owner ends, the other one carries on with the same data at the same address", async () => {
    const dataDir = await usedDataDir();
    const owner = await hold(dataDir);
    await query(owner.url, "create table carried as select 7 as n");
    const guest = await start(dataDir);
    try {
      owner.child.kill("SIGTERM");
      await owner.ended;
      await until("the guest has started the server again", () =>
        query(guest.url, "select n from carried").then(
          (rows) => rows[0]?.n === 7,
          () => false,
        ),
      );
    } finally {
      await guest.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });
});

describe("after kill -9", () => {
  test("of the process that started it, the server ends by itself without recovery", {
    skip: hasSetpriv ? false : "needs setpriv",
  }, async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir);
    await query(held.url, "create table kept as select 1 as n");
    held.child.kill("SIGKILL");
    await held.ended;
    await until("the server has ended", () => serverPid(dataDir) === null);
    const lines: string[] = [];
    const server = await startEmbeddedPostgres({
      dataDir,
      env: process.env,
      log: (line) => lines.push(line),
    });
    try {
      assert.doesNotMatch(lines.join("\n"), /not properly shut down/);
      assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 1 }]);
    } finally {
      await server.stop();
    }
  });

  test("where nothing ends the server with its parent, the next start takes it over and ends it", async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir, "hold", await withoutSetpriv(dataDir));
    assert.match(held.notes.join(" "), /the next start takes it over/);
    await query(held.url, "create table kept as select 4 as n");
    const pid = serverPid(dataDir);
    held.child.kill("SIGKILL");
    await held.ended;
    const server = await start(dataDir);
    try {
      assert.equal(serverPid(dataDir), pid);
      assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 4 }]);
    } finally {
      await server.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });

  test("a server that cannot be started again is tried less and less often, and the log says so once", async () => {
    const dataDir = await usedDataDir();
    const lines: string[] = [];
    let [isBroken, tries] = [false, 0];
    const server = await startEmbeddedPostgres({
      dataDir,
      env: process.env,
      log: (line) => lines.push(line),
      settings: {
        // Read at each start of the server.
        get shared_buffers() {
          tries++;
          return isBroken ? "nonsense" : "16MB";
        },
      },
    });
    const realNow = Date.now;
    try {
      // To its supervising process, the server has run for a while.
      Date.now = () => realNow() + 60_000;
      isBroken = true;
      killServer(dataDir);
      const failures = () => lines.filter((line) => line.startsWith("PostgreSQL could not be started"));
      await until("a start has failed", () => failures().length > 0);
      tries = 0;
      // Without pauses there would be dozens of tries. With them there is one after 1 and 3 seconds.
      await wait(2_000);
      assert.ok(tries <= 2, `${tries} tries`);
      assert.equal(failures().length, 1, failures().join("\n---\n"));
      isBroken = false;
      await until("the server is there again", () =>
        query(server.url, "select 1").then(
          () => true,
          () => false,
        ),
      );
    } finally {
      Date.now = realNow;
      await server.stop();
    }
  });

  test("of everything at once, every acknowledged row is there, round after round", async () => {
    const dataDir = await usedDataDir();
    const acknowledged: number[] = [];
    for (let round = 0; round < 2; round++) {
      const held = await hold(dataDir, "write");
      await until("some rows are written", () => held.wrote.length >= 50);
      const processes = serverProcesses(dataDir);
      assert.ok(processes.length > 1);
      held.child.kill("SIGKILL");
      killAll(processes);
      await held.ended;
      acknowledged.push(...held.wrote);
    }
    const server = await start(dataDir);
    try {
      const found = new Set((await query(server.url, "select n from written")).map((row) => Number(row.n)));
      assert.deepEqual(
        acknowledged.filter((n) => !found.has(n)),
        [],
      );
    } finally {
      await server.stop();
    }
  });

  test("of the server alone, the process that started it brings it back", async () => {
    const dataDir = await usedDataDir();
    const server = await start(dataDir);
    try {
      await query(server.url, "create table kept as select 2 as n");
      killServer(dataDir);
      await until("the server is back", () =>
        query(server.url, "select n from kept").then(
          (rows) => rows[0]?.n === 2,
          () => false,
        ),
      );
    } finally {
      await server.stop();
    }
    assert.equal(serverPid(dataDir), null);
  });

  test("a lock file that names a living process of another program does not stop the next start", async () => {
    const dataDir = await usedDataDir();
    const held = await hold(dataDir, "write");
    await until("a row is written", () => held.wrote.length > 0);
    held.child.kill("SIGSTOP");
    const lockFile = path.join(embeddedFolders(dataDir).data, "postmaster.pid");
    const content = await readFile(lockFile, "utf8");
    for (const pid of serverProcesses(dataDir)) process.kill(pid, "SIGKILL");
    held.child.kill("SIGKILL");
    await held.ended;
    const account = await lstat(embeddedFolders(dataDir).data);
    // A program of the server's account, because PostgreSQL takes only those for a server.
    const other = spawn("/bin/sleep", ["600"], isRoot ? { uid: account.uid, gid: account.gid } : {});
    children.push(other);
    await writeFile(lockFile, content.replace(/^\d+/, String(other.pid)));
    const server = await start(dataDir);
    try {
      assert.notEqual(serverPid(dataDir), other.pid);
      const [row] = await query(server.url, "select max(n)::int as n from written");
      assert.ok(Number(row?.n) >= held.wrote.length);
      assert.equal(other.exitCode, null);
    } finally {
      other.kill("SIGKILL");
      await server.stop();
    }
  });
});

describe("a folder that cannot be served", () => {
  test("made by another major version is refused, untouched, and says which", async () => {
    const dataDir = await usedDataDir();
    const { data } = embeddedFolders(dataDir);
    await writeFile(path.join(data, "PG_VERSION"), "17\n");
    await assert.rejects(
      start(dataDir),
      /created by PostgreSQL 17, but this version of Assay brings PostgreSQL 18/,
    );
    assert.equal(await readFile(path.join(data, "PG_VERSION"), "utf8"), "17\n");
  });

  test("holding something else is refused and not overwritten", async () => {
    const dataDir = path.join(await newFolder(), "data");
    const { data } = embeddedFolders(dataDir);
    await mkdir(data, { recursive: true });
    await writeFile(path.join(data, "precious"), "mine");
    await assert.rejects(start(dataDir), /has no PostgreSQL data/);
    assert.equal(await readFile(path.join(data, "precious"), "utf8"), "mine");
  });

  test("copied by root to another place is handed to the server's account", {
    skip: isRoot ? false : "needs root",
  }, async () => {
    const folder = await newFolder();
    const dataDir = await usedDataDir(path.join(folder, "data"));
    const server = await start(dataDir);
    await query(server.url, "create table kept as select 3 as n");
    await server.stop();
    const copy = path.join(folder, "copy");
    // Without `-p`, as an operator would: the copies belong to root.
    assert.equal(spawnSync("cp", ["-R", dataDir, copy]).status, 0);
    scratch.push(copy);
    const again = await start(copy);
    try {
      assert.deepEqual(await query(again.url, "select n from kept"), [{ n: 3 }]);
    } finally {
      await again.stop();
    }
  });
});

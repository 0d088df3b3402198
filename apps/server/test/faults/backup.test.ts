import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { Decrypter, generateIdentity, identityToRecipient } from "age-encryption";
import pg from "pg";
import type { ArchiveKey } from "../../src/platform/installation/archive-encryption.ts";
import { backupEmbedded, restoreEmbedded } from "../../src/platform/installation/backup.ts";
import { embeddedFolders } from "../../src/platform/installation/postgres/cluster.ts";
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { ExplainedError } from "../../src/platform/lib/explained-error.ts";
import { type TarEntry, writeTar } from "../../src/platform/lib/tar.ts";
import { assayHere } from "../support/process.ts";
import { until } from "../support/until.ts";

let folder = "";
let dataDir = "";
let server: EmbeddedPostgres;
const log = () => {};
const ringOfServer = `1:${Buffer.alloc(32, 1).toString("base64")}\n`;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "assay-backup-"));
  // The account of the server must be able to traverse it.
  await chmod(folder, 0o755);
  dataDir = path.join(folder, "data");
  server = await startEmbeddedPostgres({ dataDir, env: process.env, log });
  await writeFile(path.join(dataDir, "secret-keys"), ringOfServer, { mode: 0o600 });
  await query(server.url, "create table written (n bigint primary key, filler text)");
});

after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Writes rows until it is stopped; returns the highest acknowledged number. */
function writeLoad(from: number): { acknowledged(): number; stop(): Promise<void> } {
  let next = from;
  let stopped = false;
  let acknowledged = from - 1;
  const done = (async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    while (!stopped) {
      await client.query(
        "insert into written select n, repeat(md5(n::text), 20) from generate_series($1::int, $2::int) n",
        [next, next + 9],
      );
      acknowledged = next + 9;
      next += 10;
      // Every later archive holds what is written here.
      await wait(5);
    }
    await client.end();
  })();
  return {
    acknowledged: () => acknowledged,
    async stop() {
      stopped = true;
      await done;
    },
  };
}

describe("a backup of a service that is being written to", () => {
  test("holds every row committed before it began, consistent, with the key ring", async () => {
    const load = writeLoad(1);
    try {
      await until("rows are written", () => load.acknowledged() >= 500);
      const committedBefore = load.acknowledged();
      const toFile = path.join(folder, "one.tar.gz");
      // Checkpoints in the middle recycle the log that an unprotected backup would lose.
      const checkpoints = setInterval(() => void query(server.url, "checkpoint").catch(() => {}), 50);
      await backupEmbedded({ dataDir, env: process.env, toFile });
      clearInterval(checkpoints);
      await load.stop();
      assert.equal((await stat(toFile)).mode & 0o777, 0o600);

      const restored = path.join(folder, "restored");
      await restoreEmbedded({ fromFile: toFile, dataDir: restored });
      assert.equal(await readFile(path.join(restored, "secret-keys"), "utf8"), ringOfServer);
      assert.equal((await stat(path.join(restored, "secret-keys"))).mode & 0o777, 0o600);
      const copy = await startEmbeddedPostgres({ dataDir: restored, env: process.env, log });
      try {
        const [row] = await query(
          copy.url,
          "select count(*)::int as rows, max(n)::int as last, count(*) filter (where filler <> repeat(md5(n::text), 20))::int as wrong from written",
        );
        assert.ok(Number(row?.last) >= committedBefore, `${row?.last} is before ${committedBefore}`);
        assert.equal(row?.rows, row?.last);
        assert.equal(row?.wrong, 0);
        await query(copy.url, "insert into written values (0, '')");
      } finally {
        await copy.stop();
      }
    } finally {
      await load.stop();
    }
    // The service went on, and nothing of the backup stayed behind in it.
    assert.deepEqual(await query(server.url, "select * from pg_replication_slots"), []);
  });

  test("is refused when the target exists, and the target stays", async () => {
    const toFile = path.join(folder, "precious");
    await writeFile(toFile, "mine");
    await assert.rejects(backupEmbedded({ dataDir, env: process.env, toFile }), /already exists/);
    assert.equal(await readFile(toFile, "utf8"), "mine");
  });

  test("of a folder without data says so and creates nothing there", async () => {
    const empty = path.join(folder, "empty");
    await assert.rejects(
      backupEmbedded({ dataDir: empty, env: process.env, toFile: path.join(folder, "x.tar.gz") }),
      /nothing to back up/,
    );
    await assert.rejects(lstat(empty), { code: "ENOENT" });
  });
});

describe("an encrypted backup", () => {
  test("opens with each private key it was made for and with no other, nothing in it is readable, and it holds the keys from before and after a rotation that happens meanwhile", async () => {
    const [first, second, other] = await Promise.all([
      generateIdentity(),
      generateIdentity(),
      generateIdentity(),
    ]);
    const recipients = [await identityToRecipient(first), await identityToRecipient(second)];
    const toFile = path.join(folder, "sealed.tar.gz.age");
    const ring = path.join(dataDir, "secret-keys");
    const before = await readFile(ring, "utf8");
    const rotate = (line: string) => {
      if (line.startsWith("copying")) writeFileSync(ring, "2:new,1:old\n");
    };
    try {
      await writeFile(ring, "1:old,0:older\n");
      const lock = { kind: "recipients", recipients } as const;
      await backupEmbedded({ dataDir, env: process.env, toFile, lock, log: rotate });
    } finally {
      await writeFile(ring, before);
    }
    const bytes = await readFile(toFile);
    assert.equal(bytes.subarray(0, 21).toString(), "age-encryption.org/v1");
    assert.equal((await stat(toFile)).mode & 0o777, 0o600);

    const restored = path.join(folder, "from-second");
    await restoreEmbedded({
      fromFile: toFile,
      dataDir: restored,
      key: { kind: "identities", identities: [other, second] },
    });
    assert.equal(await readFile(path.join(restored, "secret-keys"), "utf8"), "2:new,1:old,0:older\n");
    const refused = async (key: ArchiveKey | null, fromFile: string, message: RegExp) => {
      const dataDir = path.join(folder, "refused");
      await assert.rejects(restoreEmbedded({ fromFile, dataDir, key }), (error: Error) => {
        assert.ok(error instanceof ExplainedError, error.stack);
        assert.match(error.message, message);
        return true;
      });
      await assert.rejects(lstat(dataDir), { code: "ENOENT" });
    };
    await refused(null, toFile, /is encrypted: name the key/);
    await refused({ kind: "identities", identities: [other] }, toFile, /cannot be decrypted/);
    await refused({ kind: "passphrase", passphrase: "a guess" }, toFile, /cannot be decrypted/);
    const key: ArchiveKey = { kind: "identities", identities: [first] };
    const damaged = path.join(folder, "flipped.age");
    await writeFile(damaged, bytes.fill((bytes.at(-9) ?? 0) ^ 1, bytes.length - 9, bytes.length - 8));
    await refused(key, damaged, /is damaged/);
  });
});

describe("assay backup --verify", () => {
  test("restores an archive aside, reads all of it, tries the keys, and leaves nothing behind", async () => {
    const env = { DATA_DIR: dataDir, TMPDIR: path.join(folder, "scratch") };
    await mkdir(env.TMPDIR);
    await chmod(env.TMPDIR, 0o755);
    const passwordFile = path.join(folder, "password.txt");
    await writeFile(passwordFile, "four words and more");
    const person = ["--name", "Ada", "--email", "ada@example.com", "--password-file", passwordFile];
    const made = await assayHere(["user", "create", ...person], env);
    assert.equal(made.code, 0, made.stderr);
    const sealed = await assayHere(["wallet", "identity", "new", "--name", "Example"], env);
    assert.equal(sealed.code, 0, sealed.stderr);
    const [identity, toFile] = [await generateIdentity(), path.join(folder, "verified.age")];
    const keyFile = path.join(folder, "identity.txt");
    await writeFile(keyFile, `# made for the test\n${identity}\n`);
    const backup = await assayHere(
      ["backup", toFile, "--recipient", await identityToRecipient(identity)],
      env,
    );
    assert.equal(backup.code, 0, backup.stderr);
    const verified = await assayHere(["backup", "--verify", toFile, "--identity", keyFile], env);
    assert.equal(verified.code, 0, verified.stderr + verified.stdout);
    assert.match(verified.stdout, /users +1\n/);
    assert.match(verified.stdout, /The key ring opens the sealed data/);
    assert.match(verified.stdout, /can be restored; this took/);
    const left = (await readdir(env.TMPDIR)).filter((name) => name.startsWith("assay-verify-"));
    assert.deepEqual(left, [], "the scratch folder is gone");

    // The same archive with another installation's ring.
    const wrongRing = `1:${Buffer.alloc(32, 9).toString("base64")}`;
    const wrong = await assayHere(["backup", "--verify", toFile, "--identity", keyFile], {
      ...env,
      SECRET_KEYS: wrongRing,
    });
    assert.equal(wrong.code, 1, wrong.stdout);
    assert.match(wrong.stdout, /Key "1" of the ring does not open/);
    const unknown = await assayHere(["backup", toFile, "--recipient", "ssh-ed25519 AAAA"], env);
    assert.match(unknown.stderr, /entry 1 is not an age public key/);
  });
});

describe("a backup of a service that does not run", () => {
  test("starts the server for the time of the backup; with a passphrase it opens with it, and may leave the key ring out", async () => {
    const idle = path.join(folder, "from-second");
    const first = await startEmbeddedPostgres({ dataDir: idle, env: process.env, log });
    await query(first.url, "create table kept as select 5 as n");
    await first.stop();
    const toFile = path.join(folder, "idle.tar.gz.age");
    const key = { kind: "passphrase", passphrase: "correct horse battery staple" } as const;
    const lock = { ...key, workFactor: 10 };
    await backupEmbedded({ dataDir: idle, env: process.env, toFile, lock, withKeys: false });
    await assert.rejects(lstat(path.join(embeddedFolders(idle).data, "postmaster.pid")), { code: "ENOENT" });
    const target = path.join(folder, "idle-restored");
    await mkdir(target);
    const said: string[] = [];
    await restoreEmbedded({ fromFile: toFile, dataDir: target, key, log: (line) => said.push(line) });
    await assert.rejects(lstat(path.join(target, "secret-keys")), { code: "ENOENT" });
    assert.ok(said.some((line) => line.includes("contains no key ring")));
    const copy = await startEmbeddedPostgres({ dataDir: target, env: process.env, log });
    try {
      assert.deepEqual(await query(copy.url, "select n from kept"), [{ n: 5 }]);
      // The archive holds no password; a restored folder gets its own.
      const passwordOf = (url: string) => new URL(url).searchParams.get("password");
      assert.notEqual(passwordOf(copy.url), passwordOf(first.url));
    } finally {
      await copy.stop();
    }
  });
});

describe("a restore", () => {
  const manifest = JSON.stringify({ format: "assay-backup", version: 1, postgres: "18" });
  const file = (name: string, content: string): TarEntry => ({
    kind: "file",
    name,
    bytes: Buffer.byteLength(content),
    content: (async function* () {
      yield Buffer.from(content);
    })(),
  });

  async function archive(entries: TarEntry[]): Promise<string> {
    const parts: Buffer[] = [];
    const source = (async function* () {
      yield* entries;
    })();
    for await (const part of writeTar(source)) parts.push(Buffer.from(part));
    const name = path.join(folder, `hostile-${Math.random().toString(36).slice(2)}.tar.gz`);
    await writeFile(name, gzipSync(Buffer.concat(parts)));
    return name;
  }

  async function assertRefused(fromFile: string, message: RegExp): Promise<void> {
    const target = path.join(folder, "refused");
    await assert.rejects(restoreEmbedded({ fromFile, dataDir: target }), (error: Error) => {
      assert.ok(error instanceof ExplainedError, error.stack);
      assert.match(error.message, message);
      return true;
    });
    await assert.rejects(lstat(target), { code: "ENOENT" });
  }

  test("into a folder with something in it is refused", async () => {
    await assert.rejects(
      restoreEmbedded({ fromFile: path.join(folder, "one.tar.gz"), dataDir }),
      /is not empty/,
    );
  });

  test("of a damaged or cut archive leaves nothing behind", async () => {
    const whole = await readFile(path.join(folder, "one.tar.gz"));
    const cut = path.join(folder, "cut.tar.gz");
    await writeFile(cut, whole.subarray(0, whole.length - 4096));
    await assertRefused(cut, /damaged/);
    const plain = gunzipSync(whole);
    const cutInside = path.join(folder, "cut-inside.tar.gz");
    await writeFile(cutInside, gzipSync(plain.subarray(0, plain.length - 1024 * 1024), { level: 1 }));
    await assertRefused(cutInside, /ends too early/);
    const flipped = path.join(folder, "flipped.tar.gz");
    const changed = Buffer.from(whole);
    const at = Math.floor(changed.length / 2);
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    await writeFile(flipped, changed);
    await assertRefused(flipped, /damaged/);
    const other = path.join(folder, "other.tar.gz");
    await writeFile(other, "not an archive");
    await assertRefused(other, /damaged/);
  });

  test("never writes outside of the new folder", async () => {
    for (const name of [
      "../escaped",
      "postgres/data/../../../escaped",
      "/escaped",
      "postgres/data//escaped",
      "postgres/data/./escaped",
      "somewhere-else",
      "secret-keys/escaped",
    ]) {
      const made = await archive([file("assay-backup.json", manifest), file(name, "gotcha")]);
      await assertRefused(made, /is not allowed|is unexpected/);
      await assert.rejects(lstat(path.join(folder, "escaped")), { code: "ENOENT" }, name);
    }
  });

  test("refuses links, and names given twice", async () => {
    const link = gunzipSync(
      await readFile(await archive([file("assay-backup.json", manifest), file("secret-keys", "")])),
    );
    // The second header: its type becomes "symbolic link" and its checksum is corrected.
    const header = link.subarray(1024, 1536);
    header.write("2", 156);
    header.write("        ", 148);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const made = path.join(folder, "link.tar.gz");
    await writeFile(made, gzipSync(link));
    await assertRefused(made, /has the type "2", which is not allowed/);
    const twice = await archive([
      file("assay-backup.json", manifest),
      file("secret-keys", "a"),
      file("secret-keys", "b"),
    ]);
    await assert.rejects(restoreEmbedded({ fromFile: twice, dataDir: path.join(folder, "refused") }), {
      code: "EEXIST",
    });
  });

  test("of an archive without a database, or of a later format, is refused", async () => {
    await assertRefused(
      await archive([file("assay-backup.json", manifest)]),
      /contains no complete database/,
    );
    const later = JSON.stringify({ format: "assay-backup", version: 2 });
    await assertRefused(await archive([file("assay-backup.json", later)]), /format version 2/);
  });
});

test("a dump of the operator's own PostgreSQL is encrypted for age, whole or not at all", async () => {
  const own = await mkdtemp(path.join(tmpdir(), "assay-dump-"));
  after(() => rm(own, { recursive: true, force: true }));
  const [dump, toFile] = [path.join(own, "assay.dump"), path.join(own, "assay.dump.age")];
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  const backup = (...args: string[]) =>
    assayHere(["backup", toFile, "--dump", dump, ...args], {
      DATABASE_URL: "postgresql://nowhere.example/assay",
    });
  const refused = async (said: RegExp, ...args: string[]) => {
    const { code, stderr } = await backup(...args);
    assert.notEqual(code, 0);
    assert.match(stderr, said);
  };
  await refused(/is missing or empty/, "--recipient", recipient);
  const content = Buffer.from("PGDMP ".repeat(50_000));
  await writeFile(dump, content);
  await refused(/--dump needs --recipient/);
  const written = await backup("--recipient", recipient);
  assert.equal(written.code, 0, written.stderr);
  assert.equal((await lstat(toFile)).mode & 0o777, 0o600);
  const opener = new Decrypter();
  opener.addIdentity(identity);
  assert.ok(content.equals(await opener.decrypt(await readFile(toFile))));
  await refused(/already exists/, "--recipient", recipient);
  assert.deepEqual((await readdir(own)).sort(), ["assay.dump", "assay.dump.age"]);
});

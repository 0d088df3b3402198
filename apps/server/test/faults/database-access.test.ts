import assert from "node:assert/strict";
import { cp, lstat, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { migrate } from "../../src/platform/db/migrate.ts";
import { embeddedFolders } from "../../src/platform/installation/postgres/cluster.ts";
import { formerDataDir, startFormerPostgres } from "../support/former-postgres.ts";
import { cleanUpAfterFile, query, start, usedDataDir } from "../support/held-postgres.ts";

cleanUpAfterFile();

const passwordsOf = (dataDir: string) => path.join(dataDir, "database-passwords");

/** The address for a role of the same server, with a password or none. */
function as(url: string, role: string, password: string | null): string {
  const address = new URL(url);
  address.searchParams.set("user", role);
  if (password === null) address.searchParams.delete("password");
  else address.searchParams.set("password", password);
  return address.href;
}

const refusesWithoutPassword = async (url: string) => {
  for (const role of ["assay", "assay_service"]) {
    await assert.rejects(query(as(url, role, "wrong"), "select 1"), { code: "28P01" });
    await assert.rejects(query(as(url, role, null), "select 1"), /password must be a string/);
  }
};

const foreignObjects = `
  select 'relation' as kind, relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relowner <> 'assay_service'::regrole
  union all select 'routine', proname from pg_proc
    where pronamespace = 'public'::regnamespace and proowner <> 'assay_service'::regrole
  union all select 'type', typname from pg_type
    where typnamespace = 'public'::regnamespace and typowner <> 'assay_service'::regrole
  union all select 'collation', collname from pg_collation
    where collnamespace = 'public'::regnamespace and collowner <> 'assay_service'::regrole
  union all select 'database', datname from pg_database
    where datname = current_database() and datdba <> 'assay_service'::regrole`;

describe("the built-in database", () => {
  let dataDir: string;
  let server: Awaited<ReturnType<typeof start>>;
  before(async () => {
    dataDir = await usedDataDir();
    server = await start(dataDir);
  });
  after(() => server.stop());

  test("takes no connection without the password of the role, however it comes to the socket", async () => {
    await refusesWithoutPassword(server.url);
    const address = new URL(server.url);
    await assert.rejects(
      query(as(server.adminUrl, "assay", address.searchParams.get("password")), "select 1"),
      { code: "28P01" },
    );
  });

  test("has a role for the service that is no superuser: it starts no program, reads no file, and sees no password", async () => {
    const [role] = await query(
      server.url,
      "select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles where rolname = current_user",
    );
    assert.deepEqual(role, {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
    });
    for (const statement of [
      "copy (select 1) to program 'true'",
      "copy (select 1) to '/tmp/assay-written'",
      "select pg_read_file('PG_VERSION')",
      "select * from pg_authid",
      "set role assay",
      "alter role assay_service superuser",
      "alter system set work_mem = '1GB'",
    ])
      await assert.rejects(query(server.url, statement), { code: "42501" }, statement);
  });

  test("keeps its passwords in a file that only the user of the service can read, and that psql understands", async () => {
    const file = await lstat(passwordsOf(dataDir));
    assert.equal(file.mode & 0o777, 0o600);
    assert.equal(file.uid, process.geteuid?.());
    const { searchParams } = new URL(server.url);
    const line = `*:*:*:assay_service:${searchParams.get("password")}`;
    assert.ok((await readFile(passwordsOf(dataDir), "utf8")).split("\n").includes(line));
  });

  test("keeps its passwords from one start to the next", async () => {
    const dataDir = await usedDataDir();
    const first = await start(dataDir);
    await first.stop();
    const second = await start(dataDir);
    await second.stop();
    assert.equal(second.url, first.url);
    assert.equal(second.adminUrl, first.adminUrl);
  });
});

describe("a folder of a release that asked for no password", () => {
  test("is taken over at the next start: passwords are asked for, and everything belongs to the service's role", async () => {
    const dataDir = await formerDataDir();
    const former = await startFormerPostgres(dataDir);
    await migrate(former.url);
    await query(former.url, "create table kept as select 6 as n");
    await query(former.url, "create type mood as enum ('fine')");
    await former.stop();
    const server = await start(dataDir);
    try {
      await refusesWithoutPassword(server.url);
      assert.deepEqual(await query(server.url, foreignObjects), []);
      assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 6 }]);
      await migrate(server.url);
      await query(server.url, "alter table kept add column m int");
      // If the role lacks the right, PostgreSQL warns and does not change the table.
      const samples = () => query(server.url, "select pg_relation_filenode('pg_statistic') as file");
      const before = await samples();
      await query(server.url, "vacuum (full) pg_catalog.pg_statistic");
      assert.notDeepEqual(await samples(), before);
    } finally {
      await server.stop();
    }
  });

  test("can still be started by that release, and what it adds belongs to the service's role afterwards", async () => {
    const dataDir = await formerDataDir();
    await (await start(dataDir)).stop();
    const former = await startFormerPostgres(dataDir);
    await query(former.url, "create table added (n int generated always as identity primary key)");
    await former.stop();
    const server = await start(dataDir);
    try {
      await refusesWithoutPassword(server.url);
      assert.deepEqual(await query(server.url, foreignObjects), []);
    } finally {
      await server.stop();
    }
  });

  test("is joined while that release runs its server, as for a backup beside it", async () => {
    const dataDir = await formerDataDir();
    const former = await startFormerPostgres(dataDir);
    await query(former.url, "create table kept as select 8 as n");
    const guest = await start(dataDir);
    try {
      assert.deepEqual(await query(guest.url, "select n from kept"), [{ n: 8 }]);
      assert.deepEqual(await query(former.url, "select n from kept"), [{ n: 8 }]);
    } finally {
      await guest.stop();
      await former.stop();
    }
  });
});

describe("a start that was killed while it set up passwords", () => {
  const states: readonly [string, (dataDir: string) => Promise<void>][] = [
    ["after the roles were made, before the file with the passwords", (dataDir) => rm(passwordsOf(dataDir))],
    [
      "in the middle of writing the passwords",
      async (dataDir) => {
        const text = await readFile(passwordsOf(dataDir), "utf8");
        await writeFile(passwordsOf(dataDir), text.slice(0, 20));
      },
    ],
    [
      "before the server was told to ask for them",
      (dataDir) =>
        writeFile(
          path.join(embeddedFolders(dataDir).base, "pg_hba.conf"),
          "local all assay trust\nlocal all all scram-sha-256\n",
        ),
    ],
    [
      "before it was written how to connect",
      (dataDir) => rm(path.join(embeddedFolders(dataDir).base, "pg_hba.conf")),
    ],
  ];
  for (const [moment, goBackTo] of states) {
    test(`${moment}: the next start completes it`, async () => {
      const dataDir = await usedDataDir();
      await goBackTo(dataDir);
      const server = await start(dataDir);
      try {
        assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
        await refusesWithoutPassword(server.url);
      } finally {
        await server.stop();
      }
    });
  }

  test("between the roles and the tables: the next start hands over what is left", async () => {
    const dataDir = await formerDataDir();
    const former = await startFormerPostgres(dataDir);
    await query(former.url, "create table kept as select 6 as n; create role assay_service login");
    await former.stop();
    const server = await start(dataDir);
    try {
      assert.deepEqual(await query(server.url, foreignObjects), []);
      assert.deepEqual(await query(server.url, "select n from kept"), [{ n: 6 }]);
      await refusesWithoutPassword(server.url);
    } finally {
      await server.stop();
    }
  });
});

test("data that was put beside the passwords of another folder gets new passwords", async () => {
  const dataDir = await usedDataDir();
  const other = await usedDataDir();
  // Without its passwords a folder gets new ones.
  await rm(passwordsOf(other));
  await (await start(other)).stop();
  await cp(passwordsOf(other), passwordsOf(dataDir));
  const before = await readFile(passwordsOf(dataDir), "utf8");
  const server = await start(dataDir);
  try {
    assert.deepEqual(await query(server.url, "select 1 as one"), [{ one: 1 }]);
    await refusesWithoutPassword(server.url);
    assert.notEqual(await readFile(passwordsOf(dataDir), "utf8"), before);
  } finally {
    await server.stop();
  }
});

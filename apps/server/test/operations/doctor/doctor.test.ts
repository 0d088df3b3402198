import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { openDb } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { systemClock } from "../../../src/platform/kernel/clock.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { createTestDatabase } from "../../support/database.ts";
import { startMailSink } from "../../support/mail-sink.ts";
import { assay, assayHere } from "../../support/process.ts";
import { startTestService, TestClock } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";
import { trustTestCountry } from "../../support/verify-device.ts";

type Report = {
  ok: boolean;
  problems: number;
  checks: { check: string; state: string; found: string; todo: string | null }[];
};

const folder = mkdtempSync(join(tmpdir(), "assay-doctor-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const sink = await startMailSink();
const authority = createAuthority();
const tlsSink = await startMailSink(authority.issue(["127.0.0.1"]));
const service = await startTestService({ clock: systemClock });
const healthy = {
  DATA_DIR: folder,
  DATABASE_URL: service.databaseUrl,
  SECRET_KEYS: testRing,
  PUBLIC_URL: service.url,
  SMTP_URL: sink.url,
  // Loading the real models takes most of the time of a check.
  FACE_MODELS_FILE: new URL("../../support/odd-face-models.ts", import.meta.url).pathname,
};

async function examine(
  env: Record<string, string>,
  args: readonly string[] = [],
  run: typeof assay = assayHere,
) {
  const { code, stdout, stderr } = await run(["doctor", "--json", ...args], env);
  const report = JSON.parse(stdout || assert.fail(stderr)) as Report;
  const of = (check: string) =>
    report.checks.find((each) => each.check === check) ?? assert.fail(`${check}: ${stdout}`);
  return { code, report, of };
}

test("a healthy installation has no cross, and whatever is not perfect says what to do", async () => {
  const { FACE_MODELS_FILE: _, ...asInstalled } = healthy;
  const { code, report, of } = await examine(asInstalled, [], assay);
  const crosses = report.checks.filter(({ state }) => state === "problem");
  // What the test machine lacks (a route to the outside, disk space) is not the installation's fault.
  assert.deepEqual(
    crosses.filter(({ check }) => !["DNS", "Disk", "Open files"].includes(check)),
    [],
  );
  assert.equal(code, crosses.length === 0 ? 0 : 1);
  for (const name of [
    "Node",
    "Data folder",
    "Configuration",
    "Public address",
    "Mail",
    "Face",
    "Database",
    "Schema",
    "Clock",
    "Key ring",
    "Wallets",
    "Jobs",
    "Webhooks",
    "Backup",
  ])
    assert.equal(of(name).state, "ok", `${name}: ${of(name).found}`);
  assert.match(of("Trust").found, /Nothing is trusted/);
  for (const { check, state, todo } of report.checks) assert.equal(todo === null, state === "ok", check);
});

test("the doctor lists everything that is wrong with an installation at once, and changes nothing", async () => {
  const { core } = service;
  await core.db.run(sql`
    insert into mails (id, content, next_attempt_at, created_at) values (gen_random_uuid(), '\\x00', now() + interval '1 day', now() - interval '1 hour')`);
  // During an update the rest is checked as usual.
  await core.db.run(
    sql`insert into schema_migrations (name, checksum, applied_at) values ('9999_of_the_next_release.sql', 'x', now())`,
  );
  // Its list was imported in January 2026.
  await trustTestCountry({ core, clock: new TestClock() });
  chmodSync(folder, 0o755);
  const before = await core.db.rows(sql`select id, fingerprint, state from key_ring_keys`);
  const { code, report, of } = await examine({
    ...healthy,
    SECRET_KEYS: `1:${Buffer.alloc(32, 9).toString("base64")}`,
    SMTP_URL: "smtp://127.0.0.1:1",
    PUBLIC_URL: "http://id.example.com",
    DNS_RESOLVERS: "127.0.0.1:1",
  });
  assert.equal(code, 1);
  assert.equal(report.ok, false);
  const wrong: [string, string, RegExp][] = [
    ["Data folder", "warning", /Other accounts can list or write/],
    ["Public address", "problem", /not https/],
    ["Mail", "problem", /127\.0\.0\.1:1 refuses the connection: ECONN|ESOCKET/],
    ["DNS", "problem", /127\.0\.0\.1:1 \(unavailable\)/],
    ["Schema", "warning", /migrations that this version does not know/],
    ["Key ring", "problem", /differs from the key/],
    ["Trust", "warning", /nothing was imported for \d{3,} days/],
    ["Jobs", "problem", /oldest mail has waited for 1 hour/],
  ];
  for (const [name, state, found] of wrong) {
    assert.equal(of(name).state, state, name);
    assert.match(of(name).found, found);
  }
  assert.deepEqual(await core.db.rows(sql`select id, fingerprint, state from key_ring_keys`), before);
  await core.db.run(sql`delete from mails`);
  await core.db.run(sql`delete from schema_migrations where name like '9999%'`);
});

test("without a database the rest is still checked; a wrong setting is reported alone", async () => {
  const unreachable = await examine({
    ...healthy,
    DATABASE_URL: "postgres://127.0.0.1:1/x",
    SMTP_URL: tlsSink.url,
  });
  assert.equal(unreachable.code, 1);
  assert.match(unreachable.of("Database").found, /does not answer|could not be opened/);
  assert.equal(unreachable.of("Mail").state, "problem");
  assert.match(unreachable.of("Mail").found, /certificate/, "of an authority that is not trusted here");
  const wrong = await examine({ ...healthy, PORT: "http", SECRET_KEYS: "1:c2hvcnQ=" });
  assert.deepEqual([wrong.code, wrong.report.checks.length], [1, 1]);
  assert.match(wrong.of("Configuration").found, /has 2 problems: .*PORT/);
  assert.match(wrong.of("Configuration").found, /SECRET_KEYS cannot be used: key "1" is shorter/);
  assert.ok(!wrong.of("Configuration").found.includes("c2hvcnQ"), "what may be a secret is not repeated");
});

test("before the first start, with an empty database and a mail server with TLS, nothing is wrong and nothing is made", async () => {
  const trusted = join(folder, "authority.pem");
  writeFileSync(trusted, authority.certificate);
  const database = await createTestDatabase({ empty: true });
  after(() => database.drop());
  const env = {
    ...healthy,
    DATABASE_URL: database.url,
    SMTP_URL: tlsSink.url,
    NODE_EXTRA_CA_CERTS: trusted,
    // `prove upgrade` sets it for the processes of tests, but here it would be a sign of earlier use.
    SKIP_MIGRATIONS: "false",
  };
  // Node reads this setting when a process starts.
  const { of, report } = await examine(env, [], assay);
  assert.deepEqual([of("Mail").state, of("Database").state], ["ok", "ok"], JSON.stringify(of("Mail")));
  assert.match(of("Mail").found, /answers\. .*certificate/i);
  assert.equal(of("Schema").state, "warning");
  assert.ok(
    !report.checks.some(({ check }) => check === "Key ring"),
    "tables that are not there are not read",
  );
  const db = openDb({ url: database.url, poolSize: 1, onError: () => {} });
  assert.deepEqual(await db.rows(sql`select from pg_tables where schemaname = 'public'`), []);
  await db.close();

  // The same database after it was wiped, or another database.
  const used = mkdtempSync(join(folder, "used-"));
  writeFileSync(join(used, "secret-keys"), testRing, { mode: 0o600 });
  const several = `2:${Buffer.alloc(32, 2).toString("base64")},${testRing}`;
  for (const sign of [{ SKIP_MIGRATIONS: "true" }, { SECRET_KEYS: several }, { DATA_DIR: used }]) {
    const wiped = await examine({ ...env, ...sign });
    assert.equal(wiped.of("Schema").state, "problem", JSON.stringify(sign));
    assert.match(wiped.of("Schema").found, /empty, although this installation has run before/);
    assert.equal(wiped.code, 1);
  }
  const lost = await examine({ DATA_DIR: used });
  assert.deepEqual([lost.code, lost.of("Database").state], [1, "problem"]);
});

test("where no process runs any more doctor finds a problem; before the first start it is a warning", async () => {
  const stopped = await startTestService({ clock: systemClock });
  const env = { ...healthy, DATABASE_URL: stopped.databaseUrl };
  assert.equal((await examine(env)).of("Jobs").state, "ok");
  await stopped.close();
  const { code, of } = await examine(env);
  assert.deepEqual([code, of("Jobs").state], [1, "problem"]);
  assert.match(of("Jobs").found, /No process of the service runs\./);
});

test("a partner learns what the key may do, that an endpoint lacks a key, and what a wrong key is", async () => {
  const { owner, key } = await createPartner(service.api);
  const from = (secret: string) => examine({}, ["--url", service.url, "--key", secret]);
  const fresh = await from(key.secret);
  assert.equal(fresh.code, 0, JSON.stringify(fresh.report));
  assert.match(fresh.of("Service").found, /answers/);
  assert.match(fresh.of("API key").found, /sessions:write/);
  assert.match(fresh.of("Endpoints").found, /no webhook endpoint/);
  assert.deepEqual(
    expectData<unknown[]>(await service.api.as(key.secret).get("/v1/sessions")),
    [],
    "nothing was written",
  );
  const { endpoint } = expectData(
    await owner.api.post("/v1/webhooks/endpoints", {
      url: "https://hooks.acme-orders.com/in",
      name: "Orders",
    }),
    201,
  );
  expectData(await owner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  const keyless = await from(key.secret);
  assert.equal(keyless.code, 1);
  const { found, todo } = keyless.of("Deliveries");
  assert.match(found, /is failed after 0 attempts: no active key\./);
  assert.match(
    todo ?? "",
    /`assay keys new FILE`/,
    "the receiver was never asked, so it has nothing to show",
  );
  assert.match(keyless.of("Endpoints").found, /No active encryption key: Orders/);
  const wrong = await from(`${key.secret.slice(0, -1)}${key.secret.endsWith("A") ? "B" : "A"}`);
  assert.equal(wrong.of("API key").state, "problem");
  const nobody = await examine({}, ["--url", "http://127.0.0.1:1", "--key", key.secret]);
  assert.equal(nobody.of("Service").state, "problem");
});

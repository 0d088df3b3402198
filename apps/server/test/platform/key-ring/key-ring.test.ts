import assert from "node:assert/strict";
import test from "node:test";
import { startService } from "../../../src/app.ts";
import { listReports } from "../../../src/operations/operator/process-report.store.ts";
import type { Core } from "../../../src/platform/core.ts";
import { openDb } from "../../../src/platform/db/db.ts";
import { listMigrations, migrate } from "../../../src/platform/db/migrate.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, systemClock } from "../../../src/platform/kernel/clock.ts";
import { newUuid } from "../../../src/platform/kernel/ids.ts";
import { listLiveProcesses, RingMember, reconcileRing } from "../../../src/platform/key-ring/ring-member.ts";
import {
  fenceKey,
  listKnownKeys,
  listProcesses,
  setKeyState,
} from "../../../src/platform/key-ring/ring-state.store.ts";
import {
  countSealedWith,
  hashesUnder,
  keyedHashColumns,
  resealAll,
  sealedColumns,
} from "../../../src/platform/key-ring/sealed-columns.store.ts";
import { KeyRing, parseRing } from "../../../src/platform/lib/key-ring.ts";
import { createKey, createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";
import { until } from "../../support/until.ts";

const two = `2:${Buffer.alloc(32, 2).toString("base64")}`;
const both = new KeyRing(parseRing(`${two},${testRing}`));

// Bytes that are not sealed. Hashes made with the ring name their key (`keyedHashColumns`), or only count
// guesses and restart with another key. Other hashes need no key. The rest is public.
const notSealed = new Set([
  "api_keys.secret_hash",
  "attempt_sockets.token_hash",
  "attempts.device_hash",
  "backup_codes.code_hash",
  "consent_receipt_keys.public_key",
  "consents.cancel_token_hash",
  "deletion_codes.code_hash",
  "domain_challenges.token_hash",
  "familiar_addresses.key",
  "guess_limits.key",
  "handoff_tokens.device_hash",
  "handoff_tokens.token_hash",
  "idempotent_answers.id",
  "idempotent_answers.request_hash",
  "invitations.token_hash",
  "mailed_tokens.token_hash",
  "organization_logos.bytes",
  "passkey_challenges.challenge_hash",
  "passkeys.credential_id",
  "passkeys.public_key",
  "receipt_keys.public_key",
  "sessions.cancel_token_hash",
  "sessions.return_code_hash",
  "status_lists.body",
  "status_lists.uri_hash",
  "trust_items.content",
  "user_sessions.token_hash",
  "verified_domains.token_hash",
  "wallet_anchors.certificate",
  "wallet_requests.browser_hash",
  "wallet_requests.code_hash",
  // Encrypted with another party's key, and deleted within minutes.
  "wallet_requests.held",
  "wallet_requests.id_hash",
  // Sealed to the key of the partner, who alone can open it.
  "webhook_deliveries.payload",
]);

test("every column of bytes is on the list of sealed columns or is known to hold none, so that a rotation forgets none", async () => {
  const { core } = await startTestService({ role: "api" });
  const columns = await core.db.rows<{ name: string }>(sql`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea' order by 1`);
  const sealed = new Set(sealedColumns.map(({ table, column }) => `${table}.${column}`));
  const found = new Set(columns.map(({ name }) => name));
  assert.deepEqual(
    [...found].filter((name) => !sealed.has(name) && !notSealed.has(name)),
    [],
  );
  assert.deepEqual(
    [...sealed, ...notSealed].filter((name) => !found.has(name)),
    [],
    "no column that is gone",
  );
  assert.deepEqual(
    [...sealed].filter((name) => notSealed.has(name)),
    [],
  );
});

test("every sealed column and every hash that names its key is fenced in the database", async () => {
  const { core } = await startTestService({ role: "api" });
  const triggers = await core.db.rows<{ table: string; definition: string }>(sql`
    select tgrelid::regclass::text as table, pg_get_triggerdef(oid) as definition from pg_trigger where not tgisinternal`);
  const hashes = await core.db.rows<{ table: string; column: string }>(sql`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and column_name = 'hash_key_id'`);
  assert.deepEqual(
    hashes.map(({ table }) => table).sort(),
    keyedHashColumns.map(({ table }) => table).sort(),
    "every column that names the key of a hash is on the list",
  );
  for (const { table, column } of [...sealedColumns, ...keyedHashColumns]) {
    const fence = `BEFORE INSERT OR UPDATE OF ${column} ON public.${table} FOR EACH ROW WHEN (`;
    assert.ok(
      triggers.some(
        (trigger) =>
          trigger.table === table &&
          trigger.definition.includes(fence) &&
          trigger.definition.includes("key_may_store("),
      ),
      `${table}.${column}`,
    );
  }
});

test("a process that slept through a retirement cannot store under the old key, and recovers by itself", async () => {
  const service = await startTestService({ role: "api", env: { SECRET_KEYS: `${testRing},${two}` } });
  const { core } = service;
  const partner = await createPartner(service.api);
  // The retiring process took this one for dead: its ring begins with the old key, and it has not checked.
  await core.db.run(sql`update key_ring_keys set generation = 10 where id = '2'`);
  await fenceKey(core.db, "1");
  const sleepAndStore = () => {
    core.ring.sealWith("1");
    return partner.owner.api.post("/v1/auth/api-keys", { name: "late", scopes: [] });
  };
  let refused = await sleepAndStore();
  // It checks every few seconds, and may have done so just now.
  while (refused.status === 201) refused = await sleepAndStore();
  expectError(refused, 503, "SERVICE_UNAVAILABLE");
  await assert.rejects(
    core.db.run(sql`update api_keys set hash_key_id = '1' where id = ${partner.key.id}`),
    /a key that is not in use/,
  );
  await service.runJob("report-process");
  assert.equal(core.ring.currentId, "2");
  assert.equal((await createKey(partner.owner)).secret.slice(0, 3), "kk_");
});

test("/readyz says when the ring in memory no longer fits", async () => {
  const { core, api, runJob } = await startTestService({ role: "api" });
  await core.db.run(sql`
    insert into key_ring_keys (id, fingerprint, state, generation, introduced_at) values ('9', 'x', 'in_use', 9, now())`);
  await runJob("report-process");
  const answer = await api.get("/readyz");
  assert.equal(answer.status, 503);
  assert.match(answer.text, /no key \\"9\\"/);
  await core.db.run(sql`delete from key_ring_keys where id = '9'`);
  await runJob("report-process");
  assert.equal((await api.get("/readyz")).status, 200);
});

test("a database from before rings were known is taken over by a ring that opens what it holds, and by no other", async () => {
  const old = await startTestService({ role: "api" });
  await createPartner(old.api);
  await old.close();
  const { config, log, clock } = old.core;
  const start = (ring: string) =>
    startService({
      config,
      databaseUrl: old.databaseUrl,
      ring: new KeyRing(parseRing(ring)),
      clock,
      log,
      role: "api",
    });
  const db = openDb({ url: old.databaseUrl, poolSize: 1, onError: () => {} });
  await db.run(sql`delete from key_ring_keys`);
  await assert.rejects(start(two), /no key "1"/);
  // An API key that was hashed under a key cannot be used without it.
  await db.run(sql`update api_keys set hash_key_id = 'gone'`);
  await assert.rejects(start(`${two},${testRing}`), /^[^"]*no key "gone"[^"]*$/);
  await db.run(sql`update api_keys set hash_key_id = '1'`);
  await db.close();
  await assert.rejects(
    start(two.replace("2:", "1:")),
    /Key "1" of the ring does not open data that was sealed/,
  );
  const service = await start(`${two},${testRing}`);
  assert.equal(service.core.ring.currentId, "2");
  await service.close();
});

test("a remembered answer is replayed after its key was retired", async () => {
  // The ring is changed in one process alone; another would rightly keep its key in use.
  const { core, api, runJob } = await startTestService({ role: "api", machines: 1 });
  const { owner } = await createPartner(api);
  const create = () =>
    owner.api.post("/v1/auth/api-keys", { name: "once", scopes: [] }, { "idempotency-key": "rotation" });
  const first = await create();
  core.ring.replace(both.keys);
  await runJob("report-process");
  assert.equal(core.ring.currentId, "2");
  await reconcileRing(core.db, both, core.clock.now(), null);
  await resealAll(core.db, core.ring, core.clock.now());
  assert.equal(await countSealedWith(core.db, "1"), 0);
  core.ring.replace(parseRing(two));
  const again = await create();
  assert.equal(again.text, first.text);
  expectData(again, 201);
});

test("a key goes out of use only after every transaction that stored under it has ended", async () => {
  const { core, api } = await startTestService({ role: "api" });
  const { key } = await createPartner(api);
  await core.db.transaction(async (tx) => {
    await tx.run(sql`update api_keys set hash_key_id = '1' where id = ${key.id}`);
    await assert.rejects(fenceKey(core.db, "1"), /lock timeout/);
  });
  await fenceKey(core.db, "1");
});

test("a mailed code to delete an organization holds its key for the day that it is good", async () => {
  const { core, api, clock } = await startTestService({ role: "api" });
  const { owner, key, organizationId } = await createPartner(api);
  expectData(await owner.api.post("/v1/auth/orgs/request-delete", { organizationId }), 202);
  assert.equal((await owner.api.delete(`/v1/auth/api-keys/${key.id}`)).status, 204);
  assert.match((await hashesUnder(core.db, "1", clock.now())).join(), /codes to delete an organization/);
  clock.advance(dayMs);
  assert.deepEqual(await hashesUnder(core.db, "1", clock.now()), []);
});

test("a ring that cannot be read again because file descriptors are used up is no problem of the ring, and the log says so once", async () => {
  const { core, logLines } = await startTestService({ machines: 1, role: "api" });
  let failure: Error = Object.assign(new Error("EMFILE: too many open files, open 'secret-keys'"), {
    code: "EMFILE",
  });
  const ring = new KeyRing(parseRing(testRing), () => {
    throw failure;
  });
  const self = { role: "api", version: "of this test", codeVersion: 1, startedAt: core.clock.now() };
  const member = new RingMember({ ...core, ring, self, report: () => null });
  await member.join();
  for (let i = 0; i < 3; i++) await member.refresh();
  assert.equal(member.problem, null);
  assert.equal(logLines.filter((line) => line.includes("too many files are open")).length, 1);
  assert.ok(!logLines.some((line) => line.includes("match the database")));
  failure = new Error("ENOENT: no such file");
  await member.refresh();
  assert.match(member.problem ?? "", /cannot be reloaded: ENOENT/);
  await member.leave();
});

test("a process of the previous release counts: no key is used that it lacks, nothing that it needs is removed, and the status shows it", async () => {
  const { core, databaseUrl } = await startTestService({ clock: systemClock, role: "api", machines: 1 });
  core.ring.replace(both.keys);
  const stateOfNewKey = async () => {
    const known = await reconcileRing(core.db, both, core.clock.now(), null);
    return known.find(({ id }) => id === "2")?.state;
  };
  const former = "process 7 on elsewhere";
  await core.db.run(sql`
    insert into key_ring_processes (id, name, loaded, seals_with, seen_at)
    select gen_random_uuid(), ${former}, array[id || ':' || fingerprint], id, now() from key_ring_keys where id = '1'`);
  assert.equal(await stateOfNewKey(), "introduced");
  const putOff: string[] = [];
  const text = "-- phase: contract, code since 0001\nselect 1;";
  const migrations = [...listMigrations(), { name: "9001_less.sql", text, checksum: "of this test" }];
  const onPostponed = (_name: string, processes: readonly string[]) => putOff.push(...processes);
  assert.deepEqual(await migrate(databaseUrl, { migrations, onPostponed }), []);
  assert.deepEqual(putOff, [former]);
  const shown = await listReports(core.db, new Date(0));
  assert.ok(shown.length > 0 && shown.every(({ name }) => name !== former));

  await core.db.run(sql`delete from key_ring_processes where name = ${former}`);
  await until("the key is in use", async () => (await stateOfNewKey()) === "in_use");
});

test("a process learns at once that another key seals, without waiting for its next report", async () => {
  const { core, databaseUrl } = await startTestService({
    role: "api",
    machines: 1,
    env: { SECRET_KEYS: `${testRing},${two}` },
  });
  const elsewhere = openDb({ url: databaseUrl, poolSize: 1, onError: () => {} });
  await elsewhere.run(sql`update key_ring_keys set generation = 10 where id = '2'`);
  await setKeyState(elsewhere, "1", "introduced", "in_use", core.clock.now());
  await elsewhere.close();
  await until("the other key seals", async () => core.ring.currentId === "2");
});

/** A second process beside the service, with a ring that the test changes. */
async function joinWith(core: Core, keys: string) {
  const source = { keys: parseRing(keys) };
  const ring = new KeyRing(source.keys, () => source.keys);
  const startedAt = core.clock.now();
  const self = { role: "api", version: "of this test", codeVersion: 1, startedAt };
  const member = new RingMember({ ...core, ring, self, report: () => ({ well: true }) });
  await member.join();
  return { source, ring, member };
}

const stateOf = async ({ db }: Core, id: string) =>
  (await listKnownKeys(db)).find((key) => key.id === id)?.state;

test("a process that reads a new key from its ring introduces it, and seals with it once the others have it", async () => {
  const { core, runJob, logLines } = await startTestService({ machines: 1, role: "api" });
  const { source, ring, member } = await joinWith(core, testRing);
  source.keys = both.keys.slice();
  await member.refresh();
  assert.equal(member.problem, null);
  assert.deepEqual([ring.currentId, await stateOf(core, "2")], ["1", "introduced"]);
  const sealing = async () =>
    (await listProcesses(core.db)).map((each) => [each.loaded.length, each.sealsWith]);
  assert.deepEqual((await sealing()).sort(), [
    [1, "1"],
    [2, "1"],
  ]);
  core.ring.replace(both.keys);
  await runJob("report-process");
  await member.refresh();
  assert.deepEqual([ring.currentId, await stateOf(core, "2")], ["2", "in_use"]);
  await runJob("report-process");
  assert.deepEqual(await sealing(), [
    [2, "2"],
    [2, "2"],
  ]);
  assert.ok(
    logLines.some((line) => line.includes("another key of the ring is now in use") && line.includes('"2"')),
  );
  await member.leave();
});

test("a ring that was shortened or changed is not taken over: the one in memory serves on, and the problem ends with its cause", async () => {
  const { core, logLines } = await startTestService({ machines: 1, role: "api" });
  const { source, ring, member } = await joinWith(core, testRing);
  const good = source.keys;
  const complaints = () => logLines.filter((line) => line.includes("problem with the key ring")).length;
  for (const [keys, problem] of [
    [two, /no key "1"/],
    [`1:${Buffer.alloc(32, 9).toString("base64")}`, /differs from the key "1" of this database/],
  ] as const) {
    const before = complaints();
    source.keys = parseRing(keys);
    for (let time = 0; time < 2; time++) await member.refresh();
    assert.match(member.problem ?? "", problem);
    assert.equal(complaints(), before + 1, "said once");
    assert.deepEqual(ring.keys, good);
    assert.equal(await stateOf(core, "2"), undefined, "nothing of it is made known");
    source.keys = good;
    await member.refresh();
    assert.equal(member.problem, null);
  }
  await member.leave();
});

test("a ring that is known is brought again without a write, and a process is in the list from its start to its end", async () => {
  const { core, clock } = await startTestService({ machines: 1, role: "api" });
  const written = () => core.db.rows(sql`select id, xmin::text from key_ring_keys`);
  const before = await written();
  const listed = async () => (await listProcesses(core.db)).map(({ id }) => id);
  const live = async () => (await listLiveProcesses(core.db, clock.now())).map(({ id }) => id);
  const others = new Set(await listed());
  const { member } = await joinWith(core, testRing);
  await member.refresh();
  assert.deepEqual(await written(), before);
  const [own = ""] = (await listed()).filter((id) => !others.has(id));
  assert.ok((await live()).includes(own));
  clock.advance(30_000);
  assert.ok(!(await live()).includes(own), "it has been silent for half a minute");
  await member.refresh();
  assert.ok((await live()).includes(own));
  clock.advance(60 * 60_000);
  await (await joinWith(core, testRing)).member.leave();
  assert.ok((await listed()).includes(own), "it is shown for an hour");
  clock.advance(1);
  const next = await joinWith(core, testRing);
  assert.ok(!(await listed()).includes(own), "and then forgotten");
  await next.member.leave();
  assert.deepEqual(
    (await listed()).filter((id) => !others.has(id)),
    [],
  );
});

test("a process that cannot reach the database at its end says so and ends", async () => {
  const { core, databaseUrl, logLines } = await startTestService({ machines: 1, role: "api" });
  const db = openDb({ url: databaseUrl, poolSize: 1, onError: () => {} });
  const { member } = await joinWith({ ...core, db }, testRing);
  await db.close();
  await member.leave();
  assert.ok(logLines.some((line) => line.includes("the end of this process could not be reported")));
});

test("more values than one batch holds are all sealed again; one that does not open is counted and kept, and each call retries it", async () => {
  const { core, api } = await startTestService({ machines: 1, role: "api" });
  await createPartner(api);
  const now = core.clock.now();
  const ids = Array.from({ length: 205 }, () => newUuid(now));
  for (const id of ids)
    await core.db.run(sql`
      insert into mail_requests (id, purpose, email, created_at)
      values (${id}, 'magic_link', ${core.ring.seal("mail", "a@example.com", id)}, ${now})`);
  const [bad = ""] = ids;
  const wrong = core.ring.seal("mail", "a@example.com", "another row");
  await core.db.run(sql`update mail_requests set email = ${wrong} where id = ${bad}`);
  await reconcileRing(core.db, both, now, null);
  await core.db.run(sql`update key_ring_keys set state = 'in_use', generation = 5 where id = '2'`);
  const sealedBefore = await countSealedWith(core.db, "1");
  assert.ok(sealedBefore > 205);
  assert.deepEqual(await resealAll(core.db, both, now), { resealed: sealedBefore - 1, stuck: 1 });
  assert.deepEqual(
    [await countSealedWith(core.db, "1"), await countSealedWith(core.db, "2")],
    [1, sealedBefore - 1],
  );
  assert.deepEqual(await resealAll(core.db, both, now), { resealed: 0, stuck: 1 });
  await core.db.run(sql`delete from mail_requests where id = ${bad}`);
  assert.deepEqual(await resealAll(core.db, both, now), { resealed: 0, stuck: 0 });
  assert.match((await hashesUnder(core.db, "1", now)).join(), /API keys that were not used since/);
  assert.deepEqual(await hashesUnder(core.db, "2", now), []);
});

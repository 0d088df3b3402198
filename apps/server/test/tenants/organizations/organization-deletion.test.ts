import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { textlessTables, textTables } from "../../../src/platform/cleaning/text-tables.ts";
import { Sql, sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs, later } from "../../../src/platform/kernel/clock.ts";
import { newUuid } from "../../../src/platform/kernel/ids.ts";
import { hardDeleteStep } from "../../../src/tenants/organizations/hard-delete.job.ts";
import { lastTables, ownedTables } from "../../../src/tenants/organizations/owned-tables.store.ts";
import {
  Api,
  createKey,
  createPartner,
  expectData,
  expectError,
  signUp,
  signUpOwner,
} from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { readMails } from "../../support/mails.ts";
import { openReceipt } from "../../support/open-receipt.ts";
import { drawPng } from "../../support/pictures.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { startVerification, takeSession } from "../../support/verify.ts";

const dns = await startDnsServer();
const env = { DNS_RESOLVERS: dns.address };
const service = await startTestService({ env });
const second = await startTestService({
  env: { ...env, DATA_DIR: service.dataDir },
  databaseUrl: service.databaseUrl,
  clock: service.clock,
});
const both: [TestService, TestService] = [service, second];
const { api, core, clock } = service;

type Owner = Awaited<ReturnType<typeof signUpOwner>>;

const request = (owner: Owner, id = owner.organizationId) =>
  owner.api.post("/v1/auth/orgs/request-delete", { organizationId: id });
const confirm = (owner: { api: Api }, id: string, code: string) =>
  owner.api.post("/v1/auth/orgs/confirm-delete", { organizationId: id, code });
const cancel = (owner: { api: Api }, id: string) =>
  owner.api.post("/v1/auth/orgs/cancel-delete", { organizationId: id });

async function mailedCode(email: string): Promise<string> {
  const mail = (await readMails(both, email)).findLast((received) =>
    /^Code to delete/.test(received.subject),
  );
  const code = /^([A-Z0-9]{8})$/m.exec(mail?.text ?? "")?.[1];
  assert.ok(code, "the mail holds a code");
  return code;
}

async function schedule(owner: Owner): Promise<string> {
  assert.equal(expectData(await request(owner), 202).sentTo, owner.email);
  const answer = expectData(await confirm(owner, owner.organizationId, await mailedCode(owner.email)));
  return answer.pendingDeletionAt;
}

/** Adds another owner to the organization of the first. */
async function addOwner(owner: Owner) {
  const person = await signUp(api);
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: person.email, role: "owner" }), 201);
  const mail = (await readMails(both, person.email)).at(-1);
  const token = /\/invitations\/([A-Za-z0-9]{43})/.exec(mail?.text ?? "")?.[1];
  expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
  return person;
}

/** Every table of the database in which some column holds this text, with how many rows. */
async function tablesHolding(text: string): Promise<Record<string, number>> {
  const tables = await core.db.rows<{ tableName: string }>(
    sql`select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const found: Record<string, number> = {};
  for (const { tableName: table } of tables) {
    const name = new Sql([`"${table}"`], []);
    const { count } = await core.db.one<{ count: number }>(
      sql`select count(*) as count from ${name} as t where t::text like ${`%${text}%`}`,
    );
    if (count > 0) found[table] = count;
  }
  return found;
}

/**
 * Runs the job like the schedule, until no receipt waits for clean files. A transaction or an analysis by
 * PostgreSQL on a busy machine may keep one run from completing.
 */
async function finishDeletions(): Promise<void> {
  for (let runs = 0; runs < 20; runs++) {
    await service.runJob("delete-organizations");
    const { count } = await core.db.one<{ count: number }>(
      sql`select count(*) as count from deletion_receipts`,
    );
    if (count === 0) return;
  }
  assert.fail(service.logLines.filter((line) => /waits for clean files/.test(line)).join("\n"));
}

test("every table that holds rows of organizations is on the list", async () => {
  const rows = await core.db.rows<{ tableName: string }>(sql`
    select c.table_name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'organization_id' and t.table_type = 'BASE TABLE'`);
  assert.deepEqual(
    [...new Set([...ownedTables.map((owned) => owned.table), ...lastTables])].sort(),
    rows.map((row) => row.tableName).sort(),
  );
});

test("every table is listed as holding texts or not, and no text of partners or people is sampled for the planner", async () => {
  const tables = await core.db.rows<{ tableName: string }>(
    sql`select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  assert.deepEqual([...textTables, ...textlessTables].sort(), tables.map((row) => row.tableName).sort());
  const sampled = await core.db.rows<{ name: string }>(sql`
    select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relname = any(${[...textTables]}::text[]) and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.atttypid in ('text'::regtype, 'json'::regtype, 'jsonb'::regtype) and a.attstattarget is distinct from 0`);
  // Identifiers and words from our code.
  const harmless =
    /(\.|_)(id|status|type|code|kind|event|role|purpose|environment|reason|error|language|version|hash|owner|e)$/;
  assert.deepEqual(
    sampled.map(({ name }) => name).filter((name) => !harmless.test(name)),
    [],
  );
});

test("the code is 8 characters that cannot be mistaken, for its requester, for 24 hours", async () => {
  const owner = await signUpOwner(api);
  const other = await addOwner(owner);
  const id = owner.organizationId;
  expectError(await confirm(owner, id, "AAAAAAAA"), 409, "DELETION_CODE_EXPIRED");
  expectData(await request(owner), 202);
  const code = await mailedCode(owner.email);
  assert.match(code, /^[A-HJKMNP-Z2-9]{8}$/);
  assert.deepEqual(await tablesHolding(code), {});
  expectError(await confirm(other, id, code), 409, "DELETION_CODE_EXPIRED");
  expectError(await confirm(owner, id, "SHORT"), 400, "BAD_REQUEST", /`code`/);
  expectError(
    await confirm(owner, id, code === "AAAAAAAA" ? "BBBBBBBB" : "AAAAAAAA"),
    400,
    "DELETION_CODE_INVALID",
  );
  clock.advance(24 * hourMs);
  expectError(await confirm(owner, id, code), 409, "DELETION_CODE_EXPIRED");
  expectData(await request(owner), 202);
  const fresh = await mailedCode(owner.email);
  if (fresh !== code) expectError(await confirm(owner, id, code), 400, "DELETION_CODE_INVALID");
  expectData(await confirm(owner, id, fresh.toLowerCase()));
});

test("a code that has scheduled a deletion schedules no second one", async () => {
  const owner = await signUpOwner(api);
  const id = owner.organizationId;
  expectData(await request(owner), 202);
  const code = await mailedCode(owner.email);
  expectData(await confirm(owner, id, code));
  expectData(await cancel(owner, id));
  expectError(await confirm(owner, id, code), 409, "DELETION_CODE_EXPIRED");
});

test("a code is dead after 5 wrong tries, also when they come at once", async () => {
  const owner = await signUpOwner(api);
  expectData(await request(owner), 202);
  const code = await mailedCode(owner.email);
  const wrong = code.startsWith("A") ? `B${code.slice(1)}` : `A${code.slice(1)}`;
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      confirm({ api: new Api(both[i % 2 === 0 ? 0 : 1].url).as(owner.token) }, owner.organizationId, wrong),
    ),
  );
  const codes = answers.map((answer) => answer.body.error?.code);
  assert.equal(codes.filter((found) => found === "DELETION_CODE_INVALID").length, 5);
  assert.equal(codes.filter((found) => found === "DELETION_CODE_EXPIRED").length, 7);
  expectError(await confirm(owner, owner.organizationId, code), 409, "DELETION_CODE_EXPIRED");
});

test("confirming freezes at once in every process; cancelling brings everything back", async () => {
  const { owner, key, organizationId } = await createPartner(api);
  const there = { owner: new Api(second.url).as(owner.token), key: new Api(second.url).as(key.secret) };
  expectData(await there.key.get("/v1/sessions"));
  const at = await schedule(owner);
  assert.equal(at, new Date(clock.now().getTime() + 48 * hourMs).toISOString());

  for (const caller of [key.api, there.key]) {
    expectError(await caller.get("/v1/sessions"), 410, "ORGANIZATION_FROZEN");
    expectError(await caller.post("/v1/sessions"), 410, "ORGANIZATION_FROZEN");
  }
  for (const caller of [owner.api, there.owner]) {
    expectError(await caller.get("/v1/auth/orgs/domains"), 410, "ORGANIZATION_FROZEN");
    expectError(await caller.patch("/v1/auth/orgs", { name: "No" }), 410, "ORGANIZATION_FROZEN");
    expectError(
      await caller.post("/v1/auth/orgs/request-delete", { organizationId }),
      410,
      "ORGANIZATION_FROZEN",
    );
    const [listed] = expectData<{ pending_deletion_at: string }[]>(await caller.get("/v1/auth/orgs"));
    assert.equal(listed?.pending_deletion_at, at);
  }
  assert.deepEqual(expectData(await cancel(owner, organizationId)), { ok: true });
  expectData(await there.key.get("/v1/sessions"));
  expectData(await key.api.get("/v1/sessions"));
  expectError(await cancel(owner, organizationId), 409, "NO_DELETION_SCHEDULED");
  clock.advance(49 * hourMs);
  await service.runJob("delete-organizations");
  expectData(await key.api.get("/v1/sessions"));
  const subjects = (await readMails(both, owner.email)).map((mail) => mail.subject);
  assert.ok(subjects.some((subject) => /will be deleted$/.test(subject)));
  assert.ok(subjects.some((subject) => /^Deletion of .* cancelled$/.test(subject)));
});

test("an accepted invitation does not enter a frozen organization", async () => {
  const owner = await signUpOwner(api);
  const person = await signUp(api);
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: person.email, role: "admin" }), 201);
  const mail = (await readMails(both, person.email)).at(-1);
  const token = /\/invitations\/([A-Za-z0-9]{43})/.exec(mail?.text ?? "")?.[1];
  await schedule(owner);
  expectError(await person.api.post(`/v1/auth/invitations/${token}/accept`), 410, "ORGANIZATION_FROZEN");
  expectData(await cancel(owner, owner.organizationId));
  expectData(await person.api.post(`/v1/auth/invitations/${token}/accept`));
});

test("48 hours later nothing of the organization is left but the tombstone, and others keep all of theirs", async () => {
  const { owner, key, organizationId } = await createPartner(api);
  const other = await createPartner(api);
  const secondOwner = await addOwner(owner);
  for (const partner of [{ owner, api: key.api }, other]) {
    for (let i = 0; i < 2; i++) expectData(await partner.api.post("/v1/sessions"), 201);
    await takeSession(api, (await startVerification(partner.api)).id);
    expectData(
      await partner.owner.api.post("/v1/auth/orgs/invitations", { email: "z@example.com", role: "member" }),
      201,
    );
    await partner.owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: "open.example" });
    await verifyDomain(partner.owner, dns, `deleted-${partner.owner.userId}.example`);
    expectData(
      await partner.owner.api.post("/v1/auth/orgs/redirect-uris", {
        pattern: `https://deleted-${partner.owner.userId}.example/cb`,
      }),
      201,
    );
    const { current } = expectData(await partner.owner.api.get("/v1/auth/orgs/rp-terms"));
    expectData(
      await partner.owner.api.post("/v1/auth/orgs/rp-terms", {
        terms_version: current.terms_version,
        terms_hash: current.terms_hash,
      }),
    );
  }
  // An hour later the sessions have ended, with events and totals.
  clock.advance(2 * hourMs);
  await service.runJob("expire-sessions");
  await core.db.run(sql`
    insert into attempts (id, session_id, organization_id, sandbox, status, session_expires_at, completed_at, created_at, updated_at)
    values (${`va_${organizationId}`}, 'vs_x', ${organizationId}, true, 'failed', ${clock.now()}, ${clock.now()}, ${clock.now()}, ${clock.now()})`);
  // Without an encryption key nothing is ever sent there; the delivery is a row that says so.
  dns.set("hook.deleted-partner.com", "A", "8.8.8.8");
  const hook = { url: "https://hook.deleted-partner.com/", name: "hook" };
  const { endpoint } = expectData(await owner.api.post("/v1/webhooks/endpoints", hook), 201);
  expectData(await owner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
  await core.db.run(sql`
    insert into webhook_attempts (id, delivery_id, organization_id, status_code, error, duration_ms, attempted_at)
    select ${`wha_${organizationId}`} || id, id, organization_id, 500, null, 1, ${clock.now()} from webhook_deliveries
    where organization_id = ${organizationId}`);
  await core.db.run(sql`
    insert into webhook_exchanges (delivery_id, attempt_id, organization_id, signature, standard_signature, answer_is_cut)
    select delivery_id, id, organization_id, '', '', false from webhook_attempts where organization_id = ${organizationId}`);
  await core.db.run(sql`
    insert into webhook_attempts (id, delivery_id, organization_id, status_code, error, duration_ms, attempted_at)
    values ('wha_orphan', 'whd_gone', ${organizationId}, 500, null, 1, ${clock.now()})`);
  await core.db.run(sql`
    insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
      changed_at)
    values (${organizationId}, true, 'whd_waiting', ${endpoint.id}, ${later(clock.now(), 365 * dayMs)}, 0, 0, false, ${clock.now()})`);
  const logo = await fetch(`${service.url}/v1/auth/orgs/logo`, {
    method: "PUT",
    headers: { authorization: `Bearer ${owner.token}`, "content-type": "image/png" },
    body: new Uint8Array(drawPng(4, 4)),
  });
  assert.equal(logo.status, 200);
  // Of a job that reads the subject of the row only on demand.
  await core.db.run(sql`
    insert into set_aside_rows (job, kind, row_id, organization_id, reason, first_at, last_at, tries, retry_at)
    select 'test', 'sessions', id, organization_id, '23514', created_at, created_at, 1, created_at
    from sessions where organization_id in (${organizationId}, ${other.organizationId})`);
  // As the release before leaves it.
  await core.db.run(sql`
    insert into session_allowances (organization_id, sandbox, bound, window_from) values (${organizationId}, true, 9, ${clock.now()})`);
  // There is no route for an organization's own identity yet.
  const identityId = newUuid(clock.now());
  await core.db.run(sql`
    insert into wallet_identities (id, organization_id, environment, private_key_sealed, made_at)
    values (${identityId}, ${organizationId}, 'live', ${core.ring.seal("wallet-identity", "x", identityId)}, ${clock.now()})`);
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  expectData(
    await owner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/keys`, {
      key_id: "k1",
      algorithm: "RSA-OAEP-256",
      key_type: "RSA",
      jwk: { ...publicKey.export({ format: "jwk" }), alg: "RSA-OAEP-256", use: "enc", kid: "k1" },
    }),
    201,
  );
  expectData(await owner.api.post("/v1/templates", { name: "Age check" }), 201);
  const dueAt = await schedule(owner);
  // Requests to wallets go with the end of their session, so this one is still open.
  await core.db.run(sql`
    with reopened as (
      update sessions set status = 'in_progress', completed_at = null, expires_at = ${later(clock.now(), 72 * hourMs)}
      where id = (select min(id) from sessions where organization_id = ${organizationId}) returning id, organization_id)
    insert into wallet_requests (id_hash, session_id, organization_id, sandbox, attempt_id, channel, query, nonce, browser_hash, binding,
      state, made_at, expires_at)
    select sha256(id::bytea), id, organization_id, true, 'va_1', 'redirect', '{}', 'x', '', 'same_browser', 'made', ${clock.now()}, ${clock.now()}
    from reopened`);
  for (const each of both) await each.runJob("flush-key-usage");
  const othersBefore = await tablesHolding(other.organizationId);
  const before = Object.keys(await tablesHolding(organizationId));
  for (const { table } of ownedTables) {
    // Mails are gone once sent, codes once used, outcomes once counted.
    if (["mails", "deletion_codes", "session_outcomes"].includes(table)) continue;
    assert.ok(before.includes(table), `the test has a row in ${table}`);
  }

  clock.advance(48 * hourMs - 1);
  await service.runJob("delete-organizations");
  assert.ok((await tablesHolding(organizationId)).organizations, "not before its time");
  clock.advance(1);
  await Promise.all(both.map((each) => each.runJob("delete-organizations")));
  await finishDeletions();

  assert.deepEqual(await tablesHolding(organizationId), { deleted_organizations: 1 });
  const tombstone = await core.db.one(
    sql`select * from deleted_organizations where organization_id = ${organizationId}`,
  );
  assert.deepEqual(Object.keys(tombstone).sort(), ["deletedAt", "organizationId"]);
  const othersAfter = await tablesHolding(other.organizationId);
  assert.deepEqual({ ...othersAfter, mails: 0 }, { ...othersBefore, mails: 0 });

  expectError(await key.api.get("/v1/sessions"), 401, "UNAUTHORIZED");
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs")), []);
  expectError(await owner.api.get("/v1/auth/orgs/members"), 400, "ORGANIZATION_REQUIRED");
  expectError(await cancel(owner, organizationId), 404, "NOT_FOUND");

  const { keys } = expectData(await api.get("/v1/auth/deletion-receipt-keys"));
  for (const email of [owner.email, secondOwner.email]) {
    const receipts = (await readMails(both, email)).filter((mail) => /was deleted$/.test(mail.subject));
    assert.equal(receipts.length, 1, "one receipt each");
    const receipt = /^(ey[\w-]+\.[\w-]+\.[\w-]+)$/m.exec(receipts[0]?.text ?? "")?.[1] ?? "";
    const verified = openReceipt(receipt, keys[0]);
    assert.equal(verified.header.kid, keys[0].kid);
    const said = verified.payload;
    assert.equal(said.organization_id, organizationId);
    assert.equal(said.deletion_scheduled_for, dueAt);
    assert.equal(said.deleted_at, clock.now().toISOString());
    const forged = receipt.replace(/\.[\w-]+\./, `.${Buffer.from("{}").toString("base64url")}.`);
    assert.throws(() => openReceipt(forged, keys[0]), /signature/);
  }
});

test("a deletion that is interrupted at any step is finished by the next run", async () => {
  const { owner, organizationId, api: partner } = await createPartner(api);
  for (let i = 0; i < 2; i++) expectData(await partner.post("/v1/sessions"), 201);
  await schedule(owner);
  clock.advance(48 * hourMs);
  // The last step fails once: as if the process had died inside its transaction.
  await core.db.run(sql`
    create function fail_tombstone() returns trigger language plpgsql as $$
    begin raise exception 'dies here' using errcode = 'admin_shutdown'; end $$`);
  await core.db.run(sql`
    create trigger fail_tombstone before insert on deleted_organizations
    for each row execute function fail_tombstone()`);
  assert.ok((await hardDeleteStep(core, "delete-organizations")) > 0, "some rows are gone");
  expectError(await cancel(owner, organizationId), 409, "NO_DELETION_SCHEDULED");
  await assert.rejects(second.runJob("delete-organizations"));
  assert.equal((await tablesHolding(organizationId)).organizations, 1);
  assert.ok(!(await readMails(both, owner.email)).some((mail) => /was deleted$/.test(mail.subject)));
  await core.db.run(sql`drop trigger fail_tombstone on deleted_organizations`);
  await core.db.run(sql`drop function fail_tombstone`);

  await second.runJob("delete-organizations");
  await finishDeletions();
  assert.deepEqual(await tablesHolding(organizationId), { deleted_organizations: 1 });
  const receipts = (await readMails(both, owner.email)).filter((mail) => /was deleted$/.test(mail.subject));
  assert.equal(receipts.length, 1);
});

test("only an owner asks and confirms, an admin may cancel, strangers find nothing", async () => {
  const owner = await signUpOwner(api);
  const stranger = await signUpOwner(api);
  expectError(await request(stranger, owner.organizationId), 404, "NOT_FOUND");
  expectError(await confirm(stranger, owner.organizationId, "AAAAAAAA"), 404, "NOT_FOUND");
  expectError(await cancel(stranger, owner.organizationId), 404, "NOT_FOUND");
  const admin = await addOwner(owner);
  const members = expectData<{ id: string; user_id: string }[]>(await owner.api.get("/v1/auth/orgs/members"));
  const memberId = members.find((member) => member.user_id === admin.userId)?.id;
  expectData(await owner.api.patch(`/v1/auth/orgs/members/${memberId}`, { role: "admin" }));
  expectError(
    await admin.api.post("/v1/auth/orgs/request-delete", { organizationId: owner.organizationId }),
    403,
    "ROLE_REQUIRED",
  );
  const key = await createKey(owner);
  expectError(await cancel({ api: key.api }, owner.organizationId), 403, "API_KEY_NOT_ALLOWED");
  await schedule(owner);
  expectError(await cancel({ api: key.api }, owner.organizationId), 410, "ORGANIZATION_FROZEN");
  expectData(await cancel(admin, owner.organizationId));
});

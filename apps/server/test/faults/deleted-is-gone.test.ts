import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { OrganizationId } from "@assay/contract/ids";
import pg from "pg";
import { Sql, sql } from "../../src/platform/db/sql.ts";
import { backupEmbedded } from "../../src/platform/installation/backup.ts";
import { startEmbeddedPostgres } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { dayMs, later } from "../../src/platform/kernel/clock.ts";
import { setPendingDeletion } from "../../src/tenants/organizations/deletion.store.ts";
import { hardDeleteStep } from "../../src/tenants/organizations/hard-delete.job.ts";
import { createKey, createPartner, expectData } from "../support/api.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { verifyDomain } from "../support/domain.ts";
import { readMails } from "../support/mails.ts";
import { createReceivingEndpoint } from "../support/receiver.ts";
import { asHex, plantedPart, searchBytes, searchFiles } from "../support/search-files.ts";
import { startTestService } from "../support/service.ts";
import { succeed } from "../support/sessions.ts";
import { takeSession } from "../support/verify.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-gone-"));
// The account of the server must be able to traverse it.
chmodSync(folder, 0o755);
const dataDir = join(folder, "data");
// The test has no crash. A backup needs full pages in the log.
const quick = { durable: false, settings: { full_page_writes: "on" } };
const server = await startEmbeddedPostgres({ dataDir, env: process.env, log: () => {}, ...quick });
const dns = await startDnsServer();
const service = await startTestService({
  databaseUrl: server.url,
  env: { DATA_DIR: dataDir, DNS_RESOLVERS: dns.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  // Without configuration the database is the embedded one.
  config: { databaseUrl: "" },
});
const { api, core, clock } = service;
const mailbox = { runJob: service.runJob, dataDirs: [dataDir] };
after(async () => {
  await service.service.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

let counter = 0;

/** An organization with a unique text in every field that takes one; some were changed or deleted since. */
async function furnish() {
  counter += 1;
  const marks: string[] = [];
  const mark = (what: string) => {
    const text = `${what}${counter}${plantedPart}${Math.random().toString(36).slice(2, 10)}`;
    marks.push(text);
    return text;
  };
  const partner = await createPartner(api);
  const { owner, organizationId } = partner;
  expectData(await owner.api.patch("/v1/auth/orgs", { name: mark("formername") }));
  expectData(
    await owner.api.patch("/v1/auth/orgs", {
      name: mark("orgname"),
      slug: mark("slug"),
      website_url: `https://example.com/${mark("website")}`,
      support_email: `${mark("support")}@example.com`,
      privacy_url: `https://example.com/${mark("privacy")}`,
      terms_url: `https://example.com/${mark("terms")}`,
    }),
  );
  expectData(
    await owner.api.post("/v1/auth/orgs/business-details", {
      business_name: mark("business"),
      business_jurisdiction: mark("jurisdiction"),
      business_registration_number: mark("registration"),
    }),
  );
  expectData(await owner.api.post("/v1/auth/api-keys", { name: mark("keyname"), scopes: [] }), 201);
  const idle = await createKey(owner);
  expectData(await owner.api.patch(`/v1/auth/api-keys/${idle.id}`, { name: mark("idlekey") }));
  await owner.api.delete(`/v1/auth/api-keys/${idle.id}`);
  const domain = `${mark("domain")}.example`;
  await verifyDomain(owner, dns, domain);
  const pattern = `https://${domain}/${mark("callback")}`;
  expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern }), 201);
  const invited = `${mark("invited")}@example.com`;
  expectData(await owner.api.post("/v1/auth/orgs/invitations", { email: invited, role: "member" }), 201);
  const endpoint = await createReceivingEndpoint(partner.api, `https://127.0.0.1:9/${mark("hook")}`, {
    name: mark("endpointname"),
  });
  const body = (i: number) => ({
    client_reference_id: mark(`reference${i}`),
    metadata: { note: mark(`metadata${i}`) },
    redirect_url: pattern,
    webhook_endpoint_id: endpoint.id,
    share_fields: { date_of_birth: { required: true, reason: mark(`reason${i}`) } },
  });
  const ids: string[] = [];
  for (let i = 0; i < 8; i++) {
    const session = expectData(
      await partner.api.post("/v1/sessions", body(i), { "Idempotency-Key": `key-${counter}-${i}` }),
      201,
    );
    ids.push(session.id);
  }
  const [done = "", open = ""] = ids;
  const taken = await takeSession(api, done);
  await succeed(core, done, taken.attemptId);
  const agreed = await takeSession(api, open);
  for (const receipt of [taken.receipt, agreed.receipt]) marks.push(receipt.slice(-60));
  const sealed = await core.db.rows<{ payload: Buffer }>(
    sql`select payload from webhook_deliveries where organization_id = ${organizationId} and payload is not null`,
  );
  assert.ok(sealed.length > 0, "a success waits to be delivered");
  marks.push(...sealed.map(({ payload }) => asHex(payload.subarray(-45))));
  // No receiver listens there, so the exchange is inserted directly.
  await core.db.run(sql`
    insert into webhook_exchanges (delivery_id, attempt_id, organization_id, signature, standard_signature, status_line, answer,
      answer_is_cut)
    select id, ${`wha_${counter}`}, organization_id, ${mark("signature")}, '', '500', ${mark("answer")}, false
    from webhook_deliveries where organization_id = ${organizationId} and payload is not null`);
  await readMails(mailbox);
  return {
    ...partner,
    marks,
    sessionId: done,
  };
}

async function flushFiles(): Promise<void> {
  const tables = await core.db.rows<{ name: string }>(
    sql`select relname as name from pg_stat_user_tables where schemaname = 'public'`,
  );
  for (const { name } of tables) await core.db.run(new Sql([`analyze "${name}"`], []));
  await core.db.run(sql`checkpoint`);
}

const makeDue = (id: OrganizationId) =>
  core.db.transaction((tx) => setPendingDeletion(tx, id, later(clock.now(), -1), clock.now()));
const receiptsTo = async (email: string) =>
  (await readMails(mailbox, email)).filter((mail) => /was deleted$/.test(mail.subject));
const isReceipt = (found: string) =>
  /: .*\.eml$/.test(found) && /was deleted$/m.test(readFileSync(found.split(": ")[1] ?? "", "utf8"));

async function backupBytes(name: string): Promise<Buffer> {
  const toFile = join(folder, name);
  await backupEmbedded({ dataDir, env: process.env, toFile });
  return gunzipSync(readFileSync(toFile));
}

/** Stays in the first test and goes in the second. */
const other = await furnish();

test("no file and no later backup holds a text of a deleted organization once there is a receipt", async () => {
  const gone = await furnish();
  await flushFiles();
  const found = new Set(searchFiles(dataDir, gone.marks).map((each) => each.split(": ")[0]));
  const missing = gone.marks.filter((text) => !found.has(text));
  assert.deepEqual(missing, [], "every text is in some file before");

  await makeDue(gone.organizationId);
  while ((await hardDeleteStep(core, "delete-organizations")) > 0);
  // As if the process had died here: rows are deleted, files are not, so there is no receipt.
  assert.deepEqual(await receiptsTo(gone.owner.email), []);
  assert.notDeepEqual(searchFiles(join(dataDir, "postgres"), gone.marks), []);
  await service.runJob("delete-organizations");

  assert.equal((await receiptsTo(gone.owner.email)).length, 1);
  assert.deepEqual(
    searchFiles(dataDir, gone.marks).filter((found) => !isReceipt(found)),
    [],
  );
  const backup = await backupBytes("after.tar.gz");
  assert.deepEqual(searchBytes(backup, gone.marks), []);
  assert.ok(searchBytes(backup, other.marks).length > 20, "the other organization is all there");
  expectData(await other.api.get(`/v1/sessions/${other.sessionId}`));

  clock.advance(8 * dayMs);
  await service.runJob("remove-mail-files");
  assert.deepEqual(searchFiles(dataDir, gone.marks), [], "the file of the receipt goes after its days");
});

test("a transaction that still sees the rows, or a backup that still needs the log, delays the receipt, and the operator is told", async () => {
  const gone = other;
  await makeDue(gone.organizationId);
  const told = () => service.logLines.filter((line) => line.includes("a deletion waits for clean files"));
  await core.db.withConnection(async (client) => {
    await client.query("begin isolation level repeatable read");
    await client.query("select count(*) from organizations");
    await service.runJob("delete-organizations");
    assert.deepEqual(await receiptsTo(gone.owner.email), []);
    assert.match(told().join(), /old_transaction/);
    assert.match(core.metrics.render(), /^assay_deletions_waiting 1$/m);
    await client.query("commit");
  });
  const backup = new pg.Client({ connectionString: server.adminUrl });
  await backup.connect();
  await backup.query("select pg_create_physical_replication_slot('needs_the_log', true, true)");
  await service.runJob("delete-organizations");
  assert.deepEqual(await receiptsTo(gone.owner.email), []);
  assert.match(told().join(), /log_in_use/);
  await backup.end();
  await service.runJob("delete-organizations");
  assert.equal((await receiptsTo(gone.owner.email)).length, 1);
  assert.match(core.metrics.render(), /^assay_deletions_waiting 0$/m);
  assert.deepEqual(
    searchFiles(dataDir, gone.marks).filter((found) => !isReceipt(found)),
    [],
  );
});

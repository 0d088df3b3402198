import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { newUuid } from "../../../src/platform/kernel/ids.ts";
import { insertMailRequest } from "../../../src/tenants/accounts/mailed-token.store.ts";
import { signUp } from "../../support/api.ts";
import { subjectsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService();
const { api, clock, core, databaseUrl, logLines } = service;

/** The account of which PostgreSQL takes no link. */
const { email: badEmail } = await signUp(api);
const client = new pg.Client({ connectionString: databaseUrl });
await client.connect();
await client.query(`alter table mailed_tokens add constraint unmailable check (email <> '${badEmail}')`);
await client.end();

/** Puts requests for a link into the table, all at once, so that one batch takes them. */
async function plantRequests(emails: readonly string[]): Promise<string[]> {
  return core.db.transaction(async (tx) => {
    const ids: string[] = [];
    for (const address of emails) {
      clock.advance(1000);
      const now = clock.now();
      const id = newUuid(now);
      const email = core.ring.seal("mail", address, id);
      await insertMailRequest(tx, { id, purpose: "magic_link", email, now });
      ids.push(id);
    }
    return ids;
  });
}

async function newAddresses(count: number): Promise<string[]> {
  const emails: string[] = [];
  for (let i = 0; i < count; i++) emails.push((await signUp(api)).email);
  return emails;
}

async function countLinksTo(email: string): Promise<number> {
  const subjects = await subjectsTo(service, email);
  return subjects.filter((subject) => subject === "Your sign-in link").length;
}

type Waiting = { id: string; reason: string | null };

function waiting(): Promise<Waiting[]> {
  return core.db.rows<Waiting>(sql`
    select id, s.reason from mail_requests left join set_aside_rows s on s.row_id = id::text order by id`);
}

test("a request that cannot be answered is quarantined, and those before and after it are mailed", async () => {
  const emails = await newAddresses(9);
  const ids = await plantRequests([
    ...emails.slice(0, 3),
    badEmail,
    ...emails.slice(3, 5),
    badEmail,
    ...emails.slice(5),
  ]);
  const bad = [ids[3], ids[6]];
  await service.runJob("answer-mail-requests");
  for (const email of emails) assert.equal(await countLinksTo(email), 1);
  assert.deepEqual(
    (await waiting()).map((row) => [row.id, row.reason?.slice(0, 5)]),
    bad.map((id) => [id, "23514"]),
  );

  const lines = logLines.filter((line) => line.includes("quarantined"));
  assert.equal(lines.length, 2);
  for (const line of lines) assert.match(line, /"level":"warn".*"reason":"23514/);
  await service.runJob("answer-mail-requests");
  assert.equal(logLines.filter((line) => line.includes("quarantined")).length, 2);
});

test("a quarantined request is kept for thirty days", async () => {
  assert.equal((await waiting()).length, 2);
  clock.advance(29 * dayMs);
  await service.runJob("purge-account-leftovers");
  assert.equal((await waiting()).length, 2);
  clock.advance(dayMs);
  await service.runJob("purge-account-leftovers");
  assert.deepEqual(await waiting(), []);
});

test("when the database is at fault nothing is quarantined, and all are mailed once it works again", async () => {
  const emails = await newAddresses(2);
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    await admin.query("alter table mailed_tokens rename to mailed_tokens_away");
    await plantRequests(emails);
    await assert.rejects(service.runJob("answer-mail-requests"), { code: "42P01" });
    assert.deepEqual(
      (await waiting()).map((row) => row.reason),
      [null, null],
    );
  } finally {
    await admin.query("alter table mailed_tokens_away rename to mailed_tokens");
    await admin.end();
  }
  for (const email of emails) assert.equal(await countLinksTo(email), 1);
  assert.deepEqual(await waiting(), []);
});

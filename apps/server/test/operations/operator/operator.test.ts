import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { CommandError } from "@assay/cli/command";
import { plainStyle } from "@assay/cli/style";
import type { OrganizationSize } from "@assay/contract/operator";
import { scopes } from "@assay/contract/route";
import type { Static } from "typebox";
import { userGrantOperator, userRevokeOperator } from "../../../src/operations/cli/operator.commands.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { saveProcess } from "../../../src/platform/key-ring/ring-state.store.ts";
import { forgottenAfterMs, goneAfterMs } from "../../../src/platform/key-ring/ring-state.ts";
import { insertMail } from "../../../src/platform/mails/mail.store.ts";
import { countSessionOutcomes } from "../../../src/verification/sessions/count-outcomes.job.ts";
import { createPartner, expectData, expectError, readAll, signUp } from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { furnishOrganization } from "../../support/furnished-organization.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, createSession, succeed } from "../../support/sessions.ts";
import { testRing } from "../../support/test-ring.ts";
import { trustTestCountry } from "../../support/verify-device.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-operator-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const dns = await startDnsServer();
const service = await startTestService({
  role: "api",
  env: { DNS_RESOLVERS: dns.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const { api, core, clock, runJob } = service;
const env = { DATABASE_URL: service.databaseUrl, SECRET_KEYS: testRing, DATA_DIR: folder };
const commands = { "grant-operator": userGrantOperator, "revoke-operator": userRevokeOperator };

/** Carries a command out in this process: starting one for each would take most of the time of this file. */
async function command(name: keyof typeof commands, ...positionals: string[]) {
  const before = { ...process.env };
  const lines: string[] = [];
  Object.assign(process.env, env);
  try {
    const code = await commands[name].run(
      { options: {}, lists: {}, positionals },
      (line) => lines.push(line),
      plainStyle,
    );
    return { code, stdout: lines.join("\n"), stderr: "" };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { code: error.exitCode, stdout: lines.join("\n"), stderr: error.message };
  } finally {
    for (const setting of Object.keys(env)) delete process.env[setting];
    Object.assign(process.env, before);
  }
}

type Named = { name: string };
const nameOf = ({ name }: Named) => name;
type Size = Static<typeof OrganizationSize>;
const paths = ["/v1/operator/status", "/v1/operator/organizations"] as const;

/** A user with a verified e-mail, which sign-up alone does not give. */
async function person(name: string) {
  const made = await signUp(api, name);
  await core.db.run(sql`update users set email_verified_at = ${clock.now()} where id = ${made.userId}`);
  return made;
}

async function operator() {
  const made = await person("Ada Operator");
  const granted = await command("grant-operator", made.email);
  assert.equal(granted.code, 0, granted.stderr);
  return made;
}

const ada = await operator();

test("only the command line marks an operator, it keeps a record, and what it takes back is gone at once", async () => {
  const bea = await person("Bea");
  const account = async () => expectData(await bea.api.get("/v1/auth/account"));
  expectError(await bea.api.get(paths[0]), 404, "NOT_FOUND");
  assert.equal((await account()).is_operator, false);
  // A user cannot set it on their own account.
  expectError(
    await bea.api.patch("/v1/auth/account", { name: "Bea", is_operator: true }),
    400,
    "BAD_REQUEST",
  );

  const granted = await command("grant-operator", bea.email.toUpperCase());
  assert.match(granted.stdout, /may see the operator's page/);
  assert.match(granted.stdout, /neither a second factor nor a passkey/);
  assert.equal((await account()).is_operator, true);
  for (const path of paths) expectData(await bea.api.get(path));
  assert.match((await command("grant-operator", bea.email)).stdout, /is already an operator/);

  assert.match((await command("revoke-operator", bea.email)).stdout, /may no longer see/);
  for (const path of paths) expectError(await bea.api.get(path), 404, "NOT_FOUND");
  assert.equal((await account()).is_operator, false);
  assert.match((await command("revoke-operator", bea.email)).stdout, /is no operator/);
  const record = (await command("grant-operator")).stdout.trim().split("\n");
  assert.equal(record.length, 2, "one who is, then one who was");
  assert.match(record[0] ?? "", new RegExp(`^${ada.userId}  ${ada.email}  since \\S+Z  Ada Operator$`));
  assert.match(record[1] ?? "", new RegExp(`^${bea.userId}  ${bea.email}  since \\S+Z until \\S+Z  Bea$`));

  expectData(await ada.api.get(paths[0]));
});

test("an unverified address, or one without an account, makes no operator", async () => {
  const unproven = await signUp(api, "Somebody with the operator's address");
  const refused = await command("grant-operator", unproven.email);
  assert.deepEqual([refused.code, /e-mail of the account is not verified/.test(refused.stderr)], [1, true]);
  expectError(await unproven.api.get(paths[0]), 404, "NOT_FOUND");
  assert.match((await command("grant-operator", "nobody@example.com")).stderr, /no account with this e-mail/);
  assert.match((await command("revoke-operator")).stderr, /by its e-mail address/);
});

test("to everybody else the routes answer as one that does not exist, an operator's own API key included", async () => {
  const partner = await createPartner(api);
  await core.db.run(
    sql`update users set email_verified_at = ${clock.now()} where id = ${partner.owner.userId}`,
  );
  const granted = await command("grant-operator", partner.owner.email);
  assert.equal(granted.code, 0, granted.stderr);
  const { secret } = expectData(
    await partner.owner.api.post("/v1/auth/api-keys", { name: "all", scopes }),
    201,
  );
  const missing = await api.get("/v1/operator/nothing");
  const stranger = await person("Stranger");
  for (const [who, caller] of [
    ["nobody", api],
    ["a wrong token", api.as("x".repeat(43))],
    ["a user", stranger.api],
    ["a key of an operator's organization", api.as(secret)],
  ] as const) {
    for (const path of paths) {
      const answer = await caller.get(path);
      assert.equal(answer.status, 404, who);
      assert.deepEqual(answer.body.error, missing.body.error, who);
      assert.equal(answer.headers.has("www-authenticate"), false, who);
    }
  }
  expectData(await partner.owner.api.get(paths[0]));
});

test("the status has every process, its jobs, trust, quarantined rows and concerns", async () => {
  const status = async () => {
    await runJob("report-process");
    return expectData(await ada.api.get(paths[0]));
  };
  await runJob("flush-key-usage");
  const before = await status();
  // Only requests are answered here, so that nothing but this file does background work.
  assert.deepEqual(before.concerns, ["no_worker", "nothing_trusted"]);
  assert.equal(before.health.is_ready, true);
  assert.match(before.health.schema_version, /^\d{4}_/);
  const [answering] = before.processes;
  assert.deepEqual(
    [answering.role, answering.version, answering.started_at, answering.is_silent, answering.face?.waiting],
    ["api", before.health.version, before.health.started_at, false, 0],
  );
  assert.deepEqual(before.jobs.map(nameOf), [...service.jobs].sort(), "every job is listed");
  const flush = before.jobs.find((job: Named) => job.name === "flush-key-usage");
  assert.deepEqual([flush.state, flush.last_run_at], ["waiting", before.at]);

  await trustTestCountry(service);
  const mailJob = { name: "send-mails", everyMs: 5000, runningSince: null, lastEndedAt: null };
  await saveProcess(core.db, {
    loaded: [],
    sealsWith: "1",
    id: randomUUID(),
    name: "process 7 on elsewhere",
    self: { role: "worker", version: before.health.version, codeVersion: 83, startedAt: clock.now() },
    seenAt: clock.now(),
    report: {
      problem: null,
      isOverloaded: false,
      face: null,
      jobs: [{ ...mailJob, lastFailedAt: clock.now().toISOString() }],
    },
  });
  await core.db.run(sql`
    insert into set_aside_rows (job, kind, row_id, reason, first_at, last_at, tries, retry_at)
    select 'send-mails', 'mails', 'planted-row-' || n, '23503, table mails', ${clock.now()}, ${clock.now()}, 1, ${clock.now()}
    from generate_series(1, 3) n`);
  const after = await status();
  assert.deepEqual(after.concerns, ["jobs_failing", "rows_set_aside"]);
  assert.ok(after.trust.valid_authorities > 0);
  assert.deepEqual(
    after.trust.revocation_lists.map(({ state }: { state: string }) => state),
    ["fresh", "stale", "missing"],
  );
  assert.deepEqual(after.set_aside, {
    count: 3,
    groups: [
      {
        job: "send-mails",
        kind: "mails",
        reason: "23503, table mails",
        count: 3,
        oldest_at: before.at,
        next_try_at: before.at,
      },
    ],
  });
  const mails = after.jobs.find((job: Named) => job.name === "send-mails");
  assert.deepEqual([mails.state, mails.set_aside, after.mails.set_aside], ["failing", 3, 3]);
  await core.db.run(sql`delete from set_aside_rows`);

  // The worker no longer reports, so no known process does the background work.
  clock.advance(goneAfterMs);
  const silent = await status();
  assert.deepEqual(silent.concerns, ["no_worker", "process_silent"]);
  assert.deepEqual(silent.jobs.map(nameOf), [...service.jobs].sort());
  clock.advance(forgottenAfterMs);
  assert.deepEqual((await status()).processes.map(nameOf), before.processes.map(nameOf));
});

test("webhooks and mails that wait are counted, with the age of the oldest", async () => {
  const at = clock.now();
  const partner = await createPartner(api);
  const { endpoint } = expectData(
    await partner.owner.api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1:9/hook" }),
    201,
  );
  // The first of them is being sent.
  await core.db.run(sql`
    insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, lease_until, scrubbed, changed_at)
    select ${partner.organizationId}, true, 'whd_' || n, ${endpoint.id}, ${at}, 0, 0,
      case when n = 1 then ${at}::timestamptz + interval '1 day' end, true, ${at}
    from generate_series(1, 4) n`);
  await core.db.run(sql`update webhook_endpoints set failing_since = ${at} where id = ${endpoint.id}`);
  await core.db.run(sql`delete from mails`);
  await core.db.transaction((tx) =>
    insertMail(tx, {
      id: randomUUID(),
      organizationId: null,
      content: core.ring.seal("mail", "planted-mail", "any"),
      now: at,
    }),
  );
  const { webhooks, mails } = expectData(await ada.api.get(paths[0]));
  assert.deepEqual(webhooks, {
    due: 3,
    is_capped: false,
    oldest_due_at: at.toISOString(),
    endpoints_due: 1,
    endpoints_failing: 1,
    set_aside: 0,
  });
  assert.deepEqual(mails, { waiting: 1, is_capped: false, oldest_at: at.toISOString(), set_aside: 0 });
});

test("organizations are listed with their sizes, page by page, and nothing of customers is in any answer", async () => {
  const { things, words } = await furnishOrganization(service, dns);
  const partner = await createPartner(api);
  const session = await createSession(partner.api, { client_reference_id: "planted-reference" });
  await succeed(core, session, await claimed(core, session));
  await countSessionOutcomes(core, "count-outcomes");
  const listed = await readAll<Size>(ada.api, paths[1], {}, 2);
  const { count } = await core.db.one<{ count: number }>(sql`select count(*) as count from organizations`);
  assert.equal(new Set(listed.map(({ id }) => id)).size, count);
  const { name, slug, created_at, ...own } = listed.find(({ id }) => id === partner.organizationId) ?? {};
  assert.deepEqual(own, {
    id: partner.organizationId,
    environment: "sandbox",
    members: 1,
    api_keys: { live: 0, sandbox: 1 },
    webhook_endpoints: { live: 0, sandbox: 0 },
    ended_sessions: { live: 0, sandbox: 1 },
    refused_requests: 0,
    pending_deletion_at: null,
  });
  expectError(await ada.api.get(paths[1], { starting_after: things.userId }), 400, "INVALID_REQUEST");

  const shown = JSON.stringify(listed) + (await ada.api.get(paths[0])).text;
  const [canary, ...secrets] = words;
  const { organizationId, ...rest } = things;
  assert.ok(shown.includes(`Organization ${canary}`) && shown.includes(organizationId));
  const people = await core.db.rows<{ email: string; name: string }>(sql`select email, name from users`);
  for (const secret of [
    ...secrets,
    ...Object.values(rest),
    ...people.flatMap((each) => [each.email, each.name]),
    ...["support-", "Business ", "FN ", "order-", "metadata-", "Endpoint ", "Passkey "].map(
      (of) => of + canary,
    ),
    `${canary}.example`,
    "planted-reference",
    "planted-mail",
    "https://127.0.0.1:9",
  ])
    assert.ok(!shown.includes(secret), secret);
});

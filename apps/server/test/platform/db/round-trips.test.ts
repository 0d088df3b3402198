import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";
import pg from "pg";
import { sql } from "../../../src/platform/db/sql.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createReceivingEndpoint } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, passChip, succeed } from "../../support/sessions.ts";
import { agree, claimWith, handOff, startVerification } from "../../support/verify.ts";

// No background work, which would send further statements.
const env = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const { api, core, url } = await startTestService({ role: "api", env });
const partner = await createPartner(api);
const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");

/**
 * What this process sends to PostgreSQL. Each is a round trip, because the driver waits for the answer.
 * Pipelined statements count as one.
 */
const sent: string[] = [];
const connections = new Set<pg.Client>();
const send = pg.Client.prototype.query;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  connections.add(this);
  const [query] = args;
  const text = typeof query === "string" ? query : ((query as { text?: string }).text ?? "");
  // Hints are sent after the commit, and no request waits for them.
  if (!text.includes("pg_notify")) sent.push(text);
  return (send as (...given: unknown[]) => unknown).apply(this, args);
} as typeof send;

/**
 * The minimum over several rounds. This leaves out first-time work of a connection or an organization, and
 * occasional work of the process.
 */
async function expectAtMost<T>(
  most: number,
  prepare: () => Promise<T>,
  work: (prepared: T) => Promise<unknown>,
): Promise<void> {
  let fewest: readonly string[] = [];
  for (let round = 0; round < 4; round++) {
    const prepared = await prepare();
    sent.length = 0;
    await work(prepared);
    if (round === 0 || sent.length < fewest.length) fewest = [...sent];
  }
  assert.ok(fewest.length <= most, `${fewest.length} round trips:\n${fewest.join("\n---\n")}`);
}

const nothing = async () => {};
const create = () => startVerification(partner.api);
const agreed = async () => {
  const session = await create();
  await agree(api, session.id);
  return session;
};
const taken = async () => {
  const { id } = await agreed();
  return { id, attemptId: await claimed(core, id) };
};

test("a test event takes four round trips: who calls, the endpoint with its key, all that is written, and the commit", () =>
  expectAtMost(4, nothing, async () =>
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202),
  ));

test("creating a session takes two statements: who calls, and all that is written", () =>
  expectAtMost(2, nothing, create));

test("reading a session takes two statements: who calls, and the session", () =>
  expectAtMost(2, create, async ({ id }) =>
    assert.equal(expectData(await partner.api.get(`/v1/sessions/${id}`)).id, id),
  ));

test("cancelling a session takes three round trips, its event included: who calls, the session with the endpoints, and all that is written", () =>
  expectAtMost(3, create, async ({ id }) =>
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`, {})).status, 204),
  ));

test("PostgreSQL keeps the plans of the statements that look up a key, find the endpoints of an organization and create a session", async () => {
  // With the statistics of so many PostgreSQL plans a statement in each execution if its limits are parameters.
  await core.db.run(sql`
    insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash,
      expires_at, created_at, updated_at)
    select 'vs_' || lpad(number::text, 64, '0'), ${partner.organizationId}, 'created', 1, '{}', '{}', true, '', now(), now(), now()
    from generate_series(1, 30_000) number`);
  await core.db.run(sql`analyze sessions`);
  for (let round = 0; round < 12; round++) {
    const { id } = await create();
    assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`, {})).status, 204);
  }
  for (const part of ["from api_keys", "from webhook_endpoints", "insert into sessions"]) {
    const plans = { kept: 0, made: 0 };
    for (const connection of connections) {
      const { rows } = await connection.query<{ generic: number; custom: number }>(
        `select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements
          where position($1 in statement) > 0 and generic_plans + custom_plans > 5`,
        [part],
      );
      for (const { generic, custom } of rows) {
        plans.kept += generic;
        // It makes five before it compares them with one that it could keep.
        plans.made += custom - 5;
      }
    }
    assert.ok(plans.kept > 0 && plans.made === 0, `${part}: ${JSON.stringify(plans)}`);
  }
});

test("consent takes three round trips: the session with its organization, the domain that is shown, and all that is written", () =>
  expectAtMost(3, create, ({ id }) => agree(api, id)));

test("claiming a session takes two round trips: the session with its token, and all that is written", () =>
  expectAtMost(
    2,
    async () => {
      const { id } = await agreed();
      return { id, token: await handOff(api, id) };
    },
    async ({ id, token }) => expectData(await claimWith(api, id, token, randomUUID()), 201),
  ));

test("a try takes two round trips, and one that ends the session three, its event included", async () => {
  // The first statement, and with a success the second, are the test's own.
  await expectAtMost(3, taken, ({ id, attemptId }) => passChip(core, id, attemptId, 1));
  await expectAtMost(5, taken, async ({ id, attemptId }) => {
    await passChip(core, id, attemptId, 1);
    sent.length = 0;
    await succeed(core, id, attemptId);
  });
});

test("a tool that an agent calls takes one round trip more than its route: both look up the key", () =>
  expectAtMost(3, nothing, async () => {
    const answer = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${partner.key.secret}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "listSessions" } }),
    });
    const { result } = (await answer.json()) as { result?: { structuredContent?: unknown } };
    assert.ok(result?.structuredContent !== undefined);
  }));

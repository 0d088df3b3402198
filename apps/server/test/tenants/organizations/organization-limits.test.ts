import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "../../../src/platform/db/sql.ts";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { type Answer, type Api, createPartner, expectData, expectError } from "../../support/api.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";

const env = {
  ORGANIZATION_MAX_OPEN_SESSIONS: "7",
  ORGANIZATION_MAX_ENDPOINTS: "3",
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
};
const config = { organizationMaxApiKeys: 4, organizationTestEventsPerMinute: 5 };
const service = await startTestService({ env, config, role: "api" });
const { clock } = service;
/** A second process on the same database. */
const second = await startTestService({ env, config, role: "api", databaseUrl: service.databaseUrl, clock });
const elsewhere = (api: Api, key: string) => [api, second.api.as(key)];

/**
 * `count` requests at once, half of them to the other process; the limit refuses all but those that succeed.
 * A request that timed out on a busy machine did nothing, and is sent again.
 */
async function rush(
  count: number,
  apis: readonly Api[],
  ask: (api: Api) => Promise<Answer>,
): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      for (;;) {
        const answer = await ask(apis[index % apis.length] ?? assert.fail());
        if (answer.status !== 503) return answer;
        await wait(50);
      }
    }),
  );
  const refused = answers.filter(({ status }) => status >= 400);
  for (const answer of refused) expectError(answer, 409, "CONFLICT");
  return answers.length - refused.length;
}

async function openSessions(organizationId: string): Promise<number> {
  const { open } = await service.core.db.one<{ open: number }>(sql`
    select count(*) as open from sessions
    where organization_id = ${organizationId} and status in ('created', 'in_progress') and expires_at > ${clock.now()}`);
  return open;
}

test("open sessions: the one after the limit is refused in either process, the hint names the limit, and what ends or is due makes room", async () => {
  const partner = await createPartner(service.api);
  const apis = elsewhere(partner.api, partner.key.secret);
  const oneByOne = async (count: number) => {
    let created = 0;
    for (let i = 0; i < count; i++)
      created += await rush(1, [apis[i % apis.length] ?? partner.api], (api) => api.post("/v1/sessions", {}));
    return created;
  };
  assert.equal(await oneByOne(10), 7);
  assert.equal(await openSessions(partner.organizationId), 7);
  const refused = await partner.api.post("/v1/sessions", {});
  expectError(refused, 409, "CONFLICT");
  assert.match(refused.body.error?.hint ?? "", /may have 7 open sessions/);

  const [session] = expectData(await partner.api.get("/v1/sessions"));
  expectData(await partner.api.post(`/v1/sessions/${session.id}/cancel`), 204);
  assert.equal(await oneByOne(3), 1, "a place that became free is used");
  assert.equal(await openSessions(partner.organizationId), 7);

  const other = await createPartner(service.api);
  expectData(await other.api.post("/v1/sessions", {}), 201);
  clock.advance(61 * minuteMs);
  assert.equal(await oneByOne(10), 7, "those that are due are not open");
});

test("what is used up in the sandbox is there in live, and the other way round", async () => {
  const partner = await createPartner(service.api);
  await openLive(service.core, partner.organizationId);
  const live = await withLiveKey(partner);
  const hook = { url: "https://127.0.0.1:9/hook" };
  const testOf = async (api: Api) => {
    const [first] = expectData(await api.get("/v1/webhooks/endpoints"));
    return `/v1/webhooks/endpoints/${first.id}/test`;
  };
  for (const { api } of [partner, live]) {
    for (let i = 0; i < 9; i++)
      assert.equal(await rush(1, [api], (each) => each.post("/v1/sessions", {})), i < 7 ? 1 : 0);
    assert.equal(await rush(5, [api], (each) => each.post("/v1/webhooks/endpoints", hook)), 3);
    const path = await testOf(api);
    assert.equal(await rush(7, [api], (each) => each.post(path)), 5);
  }
  for (const environment of ["sandbox", "live"] as const)
    assert.equal(
      await rush(5, [partner.owner.api.in(environment)], (each) =>
        each.post("/v1/auth/api-keys", { name: "more", scopes: [] }),
      ),
      3,
      environment,
    );
});

test("open sessions: a repetition with the same Idempotency-Key takes no place, and a creation that fails gives none away", async () => {
  const partner = await createPartner(service.api);
  for (let round = 0; round < 20; round++) {
    expectData(await partner.api.post("/v1/sessions", {}, { "idempotency-key": "the-same" }), 201);
    expectError(
      await partner.api.post("/v1/sessions", {
        share_fields: { shoe_size: { required: true, reason: "For shoes." } },
      }),
      400,
      "UNKNOWN_CLAIM_KEY",
    );
  }
  assert.equal(await openSessions(partner.organizationId), 1);
  for (let i = 0; i < 8; i++)
    assert.equal(await rush(1, [partner.api], (api) => api.post("/v1/sessions", {})), i < 6 ? 1 : 0);
});

test("open sessions: hundreds from two processes at once stay at the limit, except for concurrent ones, and the whole limit can be used", async () => {
  const limit = 100;
  const large = { ...env, ORGANIZATION_MAX_OPEN_SESSIONS: String(limit) };
  const [one, two] = [
    await startTestService({ env: large, role: "api", databaseUrl: service.databaseUrl, clock, machines: 1 }),
    await startTestService({ env: large, role: "api", databaseUrl: service.databaseUrl, clock, machines: 1 }),
  ];
  const partner = await createPartner(one.api);
  const apis = [partner.api, two.api.as(partner.key.secret)];
  let created = 0;
  for (let round = 0; round < 3; round++)
    created += await rush(100, apis, (api) => api.post("/v1/sessions", {}));
  assert.equal(await openSessions(partner.organizationId), created);
  const underWay = one.core.config.databasePoolSize + two.core.config.databasePoolSize;
  assert.ok(created >= limit && created < limit * 1.02 + underWay, `${created} of ${limit}`);
  assert.equal(await rush(20, apis, (api) => api.post("/v1/sessions", {})), 0);
});

test("endpoints: never more than the limit, and a deleted one makes room", async () => {
  const partner = await createPartner(service.api);
  const apis = elsewhere(partner.api, partner.key.secret);
  const create = (api: Api) => api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1:9/" });
  assert.equal(await rush(20, apis, create), 3);
  const refused = await create(partner.api);
  expectError(refused, 409, "CONFLICT");
  assert.match(refused.body.error?.hint ?? "", /may have 3 webhook endpoints/);
  const [endpoint] = expectData(await partner.api.get("/v1/webhooks/endpoints"));
  await partner.api.delete(`/v1/webhooks/endpoints/${endpoint.id}`);
  assert.equal(await rush(4, apis, create), 1);
});

test("API keys: never more than the limit, and a deleted one makes room", async () => {
  const { owner } = await createPartner(service.api);
  const apis = [owner.api, second.api.as(owner.token)];
  const create = (api: Api) => api.post("/v1/auth/api-keys", { name: "Shop", scopes: ["sessions:read"] });
  assert.equal(await rush(20, apis, create), 3, "the partner has one already");
  const refused = await create(owner.api);
  expectError(refused, 409, "CONFLICT");
  assert.match(refused.body.error?.hint ?? "", /may have 4 API keys/);
  const [key] = expectData(await owner.api.get("/v1/auth/api-keys"));
  await owner.api.delete(`/v1/auth/api-keys/${key.id}`);
  assert.equal(await rush(4, apis, create), 1);
});

test("test events: never more in a minute than the limit, and a minute later as many again", async () => {
  const partner = await createPartner(service.api);
  const apis = elsewhere(partner.api, partner.key.secret);
  const { endpoint } = expectData(
    await partner.api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1:9/" }),
    201,
  );
  const send = (api: Api) => api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`);
  assert.equal(await rush(20, apis, send), 5);
  const refused = await send(partner.api);
  expectError(refused, 409, "CONFLICT");
  assert.match(refused.body.error?.hint ?? "", /may send 5 test events a minute/);
  clock.advance(minuteMs - 1);
  assert.equal(await rush(4, apis, send), 0);
  clock.advance(1);
  assert.equal(await rush(20, apis, send), 5);
});

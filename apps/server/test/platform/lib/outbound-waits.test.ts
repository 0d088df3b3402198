import assert from "node:assert/strict";
import test, { after } from "node:test";
import { type Api, createPartner, expectData, expectError } from "../../support/api.ts";
import { DnsServer } from "../../support/dns-server.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const dns = await new DnsServer().start();
after(() => dns.close());
const poolSize = 2;
// Look-ups are counted by each process.
const service = await startTestService({
  machines: 1,
  env: { DNS_RESOLVERS: dns.address, DATABASE_POOL_SIZE: String(poolSize) },
  role: "api",
});
const [busy, quiet] = [await createPartner(service.api), await createPartner(service.api)];
const url = "https://receiver.partner.com/hook";
dns.set("receiver.partner.com", "A", "93.184.215.14");

test("requests that wait for a slow resolver keep no connection from others, with a key as without", async () => {
  dns.behaviour = "silent";
  const asked = dns.queries.length;
  let answered = 0;
  const waiting = Array.from({ length: poolSize + 1 }, async (_, i) => {
    const answer = await busy.api.post("/v1/webhooks/endpoints", { url }, { "idempotency-key": `slow-${i}` });
    answered++;
    return answer;
  });
  // Every one of them has asked for the addresses of the name.
  await until("all have asked", () => dns.queries.length >= asked + waiting.length || answered > 0);
  for (let i = 0; i < 5; i++) expectData(await quiet.api.post("/v1/sessions", {}), 201);
  assert.equal(service.core.db.pool.figures.waiting, 0);
  assert.equal(answered, 0, "the resolver still keeps them waiting");
  dns.behaviour = "answer";
  for (const answer of await Promise.all(waiting)) expectData(answer, 201);
});

test("look-ups of names are bounded: one more is refused, and requests without a look-up are served", async () => {
  dns.behaviour = "silent";
  const asked = dns.queries.length;
  const create = (api: Api) => api.post("/v1/webhooks/endpoints", { url });
  // As many as there are for all, from two organizations, each of which has half.
  const waiting = [busy, quiet].flatMap(({ api }) => Array.from({ length: 4 }, () => create(api)));
  // Two types of addresses are asked for.
  await until("all names are asked for", () => dns.queries.length >= asked + 16);
  const third = await createPartner(service.api);
  const refused = await create(third.api);
  expectError(refused, 503, "SERVICE_UNAVAILABLE", /names are being looked up/);
  assert.ok(refused.headers.get("retry-after"));
  expectData(await third.api.get("/v1/sessions"));
  dns.behaviour = "answer";
  for (const answer of await Promise.all(waiting)) expectData(answer, 201);
});

test("an answer that is repeated does not ask for the name again, and another body is refused without", async () => {
  const keyed = { "idempotency-key": "once" };
  const first = await busy.api.post("/v1/webhooks/endpoints", { url }, keyed);
  expectData(first, 201);
  const asked = dns.queries.length;
  const again = await busy.api.post("/v1/webhooks/endpoints", { url }, keyed);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  const other = { url: "https://other.partner.com/hook" };
  expectError(await busy.api.post("/v1/webhooks/endpoints", other, keyed), 409, "IDEMPOTENCY_KEY_REUSED");
  assert.equal(dns.queries.length, asked);
});

test("signing up with a key makes one account, whose password is right", async () => {
  const person = { name: "Ada", email: "keyed@example.com", password: "correct horse battery" };
  const keyed = { "idempotency-key": "sign-up" };
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => service.api.post("/v1/auth/sign-up/email", person, keyed)),
  );
  assert.equal(new Set(answers.map((answer) => expectData(answer, 201).user.id)).size, 1);
  const { email, password } = person;
  expectData(await service.api.post("/v1/auth/sign-in/email", { email, password }));
});

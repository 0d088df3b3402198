import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import { createPartner, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const first = await startTestService();
const { api, clock, databaseUrl, runJob } = first;
const second = await startTestService({ databaseUrl, clock });

const body = { name: "key", scopes: ["sessions:read"] };
const keyed = (key: string) => ({ "idempotency-key": key });

async function countKeys(owner: Awaited<ReturnType<typeof signUpOwner>>): Promise<number> {
  return expectData<unknown[]>(await owner.api.get("/v1/auth/api-keys", { limit: 100 })).length;
}

test("the same key and body returns the first answer, secret included, and creates once", async () => {
  const owner = await signUpOwner(api);
  const one = await owner.api.post("/v1/auth/api-keys", body, keyed("a"));
  const two = await owner.api.post("/v1/auth/api-keys", body, keyed("a"));
  assert.equal(one.status, 201);
  assert.equal(two.status, 201);
  assert.equal(two.text, one.text);
  assert.equal(one.headers.get("idempotent-replayed"), null);
  assert.equal(two.headers.get("idempotent-replayed"), "true");
  assert.equal(await countKeys(owner), 1);
});

test("the same key with another body is refused", async () => {
  const owner = await signUpOwner(api);
  await owner.api.post("/v1/auth/api-keys", body, keyed("b"));
  expectError(
    await owner.api.post("/v1/auth/api-keys", { ...body, name: "other" }, keyed("b")),
    409,
    "IDEMPOTENCY_KEY_REUSED",
  );
});

test("without the header each POST creates another one", async () => {
  const owner = await signUpOwner(api);
  await owner.api.post("/v1/auth/api-keys", body);
  await owner.api.post("/v1/auth/api-keys", body);
  assert.equal(await countKeys(owner), 2);
});

test("twenty at once on two processes create one", async () => {
  const owner = await signUpOwner(api);
  const onSecond = second.api.as(owner.token);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? owner.api : onSecond).post("/v1/auth/api-keys", body, keyed("c")),
    ),
  );
  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [201]);
  assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
  assert.equal(answers.filter((answer) => answer.headers.get("idempotent-replayed") === null).length, 1);
  assert.equal(await countKeys(owner), 1);
});

test("a key of one caller means nothing to another", async () => {
  const [one, other] = [await signUpOwner(api), await signUpOwner(api)];
  const mine = expectData(await one.api.post("/v1/auth/api-keys", body, keyed("d")), 201);
  const theirs = expectData(await other.api.post("/v1/auth/api-keys", body, keyed("d")), 201);
  assert.notEqual(mine.id, theirs.id);
});

test("a failed request is not remembered, and leaves nothing behind", async () => {
  const user = await signUp(api);
  const taken = await signUpOwner(api);
  const organization = expectData<{ slug: string }>(
    await taken.api.post("/v1/auth/orgs", { name: "Taken", slug: "taken-slug" }),
    201,
  );
  expectError(
    await user.api.post("/v1/auth/orgs", { name: "Mine", slug: organization.slug }, keyed("e")),
    409,
    "SLUG_TAKEN",
  );
  expectData(await user.api.post("/v1/auth/orgs", { name: "Mine", slug: "mine-slug" }, keyed("e")), 201);
});

test("a key counts for its route: with the same text another route creates something else", async () => {
  const owner = await signUpOwner(api);
  expectData(await owner.api.post("/v1/auth/api-keys", body, keyed("route")), 201);
  const endpoint = { url: "https://hooks.acme-orders.com/in" };
  const created = await owner.api.post("/v1/webhooks/endpoints", endpoint, keyed("route"));
  assert.equal(created.status, 201);
  assert.equal(created.headers.get("idempotent-replayed"), null);
});

test("after 24 hours the key is free again, and every answer says when that is", async () => {
  const owner = await signUpOwner(api);
  const until = new Date(clock.now().getTime() + dayMs).toISOString();
  const plain = await owner.api.post("/v1/auth/api-keys", body);
  assert.equal(plain.headers.get("idempotency-expires-at"), null);
  const fresh = await owner.api.post("/v1/auth/api-keys", body, keyed("f"));
  assert.equal(fresh.headers.get("idempotency-expires-at"), until);
  clock.advance(dayMs - 1);
  const replayed = await owner.api.post("/v1/auth/api-keys", body, keyed("f"));
  assert.equal(replayed.headers.get("idempotency-expires-at"), until);
  assert.equal(
    (await owner.api.post("/v1/auth/api-keys", body, keyed("f"))).headers.get("idempotent-replayed"),
    "true",
  );
  clock.advance(1);
  assert.equal(
    (await owner.api.post("/v1/auth/api-keys", body, keyed("f"))).headers.get("idempotent-replayed"),
    null,
  );
  assert.equal(await countKeys(owner), 3);
  // A route that prepares looks for the answer before its transaction as well.
  const partner = await createPartner(api);
  const created = expectData(await partner.api.post("/v1/sessions", {}, keyed("f")), 201);
  clock.advance(dayMs);
  const next = await partner.api.post("/v1/sessions", {}, keyed("f"));
  assert.equal(next.headers.get("idempotent-replayed"), null);
  assert.notEqual(expectData(next, 201).id, created.id);
});

test("keys of a bad form are refused and named", async () => {
  const owner = await signUpOwner(api);
  for (const key of ["a b", "x".repeat(256)]) {
    expectError(
      await owner.api.post("/v1/auth/api-keys", body, keyed(key)),
      400,
      "BAD_REQUEST",
      /Idempotency-Key/,
    );
  }
});

test("stored answers are sealed, and purged after their day", async () => {
  const owner = await signUpOwner(api);
  const created = expectData(
    await owner.api.post("/v1/auth/api-keys", { ...body, name: "canary key" }, keyed("g")),
    201,
  );
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  try {
    const dump = async () =>
      (
        await admin.query(
          "select string_agg(encode(answer, 'escape'), '') as all, count(*)::int as count from idempotent_answers",
        )
      ).rows[0];
    const before = await dump();
    assert.ok(before.count > 0);
    assert.ok(!before.all.includes(created.key) && !before.all.includes("canary key"));
    clock.advance(dayMs);
    await runJob("purge-idempotent-answers");
    assert.equal((await dump()).count, 0);
  } finally {
    await admin.end();
  }
});

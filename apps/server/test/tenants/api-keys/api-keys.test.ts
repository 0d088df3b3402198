import assert from "node:assert/strict";
import test from "node:test";
import { createKey, createPartner, expectData, expectError, signUpOwner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { api, clock, machines } = await startTestService();

test("a key is shown once, counts its requests exactly, and a list has no more than its beginning", async () => {
  const owner = await signUpOwner(api);
  const created = expectData(
    await owner.api.post("/v1/auth/api-keys", { name: " Backend ", scopes: ["sessions:read"] }),
    201,
  );
  assert.match(created.key, /^kk_[A-Za-z0-9]{32}$/);
  assert.equal(created.name, "Backend");
  for (let i = 0; i < 5; i++) await api.as(created.key).get("/v1/auth/orgs/audit-logs");
  // Another machine stores its counts within a second.
  for (const other of machines.slice(1)) await other.runJob("flush-key-usage");
  const list = await owner.api.get("/v1/auth/api-keys");
  const [listed] = expectData<{ request_count: number; last_used_at: string; key_prefix: string }[]>(list);
  assert.equal(listed?.request_count, 5);
  assert.equal(listed?.last_used_at, clock.now().toISOString());
  assert.equal(listed?.key_prefix, created.key.slice(0, 7));
  assert.ok(!list.text.includes(created.key.slice(0, 8)));
});

test("disabling acts on the next request, enabling restores, deleting is final", async () => {
  const owner = await signUpOwner(api);
  const key = await createKey(owner);
  expectError(await key.api.get("/v1/auth/api-keys"), 403, "API_KEY_NOT_ALLOWED");
  assert.equal(
    expectData(await owner.api.patch(`/v1/auth/api-keys/${key.id}`, { enabled: false })).enabled,
    false,
  );
  expectError(await key.api.get("/v1/auth/api-keys"), 401, "UNAUTHORIZED");
  expectData(await owner.api.patch(`/v1/auth/api-keys/${key.id}`, { enabled: true }));
  expectError(await key.api.get("/v1/auth/api-keys"), 403, "API_KEY_NOT_ALLOWED");
  assert.equal((await owner.api.delete(`/v1/auth/api-keys/${key.id}`)).status, 204);
  expectError(await key.api.get("/v1/auth/api-keys"), 401, "UNAUTHORIZED");
  expectError(await owner.api.delete(`/v1/auth/api-keys/${key.id}`), 404, "NOT_FOUND");
});

test("another organization's key does not exist", async () => {
  const [one, other] = [await createPartner(api), await createPartner(api)];
  expectError(
    await other.owner.api.patch(`/v1/auth/api-keys/${one.key.id}`, { enabled: false }),
    404,
    "NOT_FOUND",
  );
  expectError(await other.owner.api.delete(`/v1/auth/api-keys/${one.key.id}`), 404, "NOT_FOUND");
});

test("bad input names the field", async () => {
  const owner = await signUpOwner(api);
  const post = (body: unknown) => owner.api.post("/v1/auth/api-keys", body);
  expectError(await post({ scopes: [] }), 400, "BAD_REQUEST", /`name` is required/);
  expectError(await post({ name: "", scopes: [] }), 400, "BAD_REQUEST", /`name`/);
  expectError(
    await post({ name: "x".repeat(121), scopes: [] }),
    400,
    "BAD_REQUEST",
    /`name` must have at most 120/,
  );
  expectError(
    await post({ name: "x", scopes: ["everything"] }),
    400,
    "BAD_REQUEST",
    /`scopes.0` must be one of: sessions:read/,
  );
  expectError(
    await post({ name: "x", scopes: [], colour: 1 }),
    400,
    "BAD_REQUEST",
    /`colour` is not a field/,
  );
  expectError(
    await owner.api.patch("/v1/auth/api-keys/nonsense", { enabled: true }),
    400,
    "BAD_REQUEST",
    /`id`/,
  );
  const key = await createKey(owner);
  expectError(
    await owner.api.patch(`/v1/auth/api-keys/${key.id}`, {}),
    400,
    "BAD_REQUEST",
    /at least one field/,
  );
});

test("keys are listed newest first, page by page, each exactly once", async () => {
  const owner = await signUpOwner(api);
  const made: string[] = [];
  for (let i = 0; i < 7; i++) {
    clock.advance(1);
    made.unshift((await createKey(owner)).id);
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await owner.api.get("/v1/auth/api-keys", { limit: 3, starting_after: cursor });
    seen.push(...expectData<{ id: string }[]>(page).map((key) => key.id));
    cursor = page.body.pagination?.next_cursor ?? undefined;
    assert.equal(page.body.pagination?.limit, 3);
  } while (cursor !== undefined);
  assert.deepEqual(seen, made);
});

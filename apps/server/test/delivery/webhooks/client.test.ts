import assert from "node:assert/strict";
import test from "node:test";
import { createApiKey, deleteApiKey, listApiKeys, updateApiKey } from "@assay/contract/api-keys";
import { CallError, createClient } from "@assay/contract/client";
import { createOrganization } from "@assay/contract/organizations";
import { signUp } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { api, url } = await startTestService();

test("the typed client speaks every form of route: body, path, query, list, no content", async () => {
  const { token } = await signUp(api);
  const call = createClient({ baseUrl: url, token, fetch });
  const organization = await call(createOrganization, { body: { name: "Typed", slug: "typed" } });
  assert.equal(organization.data.environment, "sandbox");

  const created = await call(createApiKey, {
    body: { name: "one", scopes: ["sessions:read"] },
    idempotencyKey: "one",
  });
  const repeated = await call(createApiKey, {
    body: { name: "one", scopes: ["sessions:read"] },
    idempotencyKey: "one",
  });
  assert.equal(repeated.data.key, created.data.key);

  const updated = await call(updateApiKey, { params: { id: created.data.id }, body: { enabled: false } });
  assert.equal(updated.data.enabled, false);

  const page = await call(listApiKeys, { query: { limit: 5 } });
  assert.equal(page.data.length, 1);
  assert.equal(page.pagination.limit, 5);

  const gone = await call(deleteApiKey, { params: { id: created.data.id } });
  assert.equal(gone.data, null);

  await assert.rejects(
    () => call(deleteApiKey, { params: { id: created.data.id } }),
    (error: unknown) =>
      error instanceof CallError &&
      error.code === "NOT_FOUND" &&
      error.status === 404 &&
      error.requestId !== null,
  );
});

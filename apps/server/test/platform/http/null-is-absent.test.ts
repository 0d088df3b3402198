import assert from "node:assert/strict";
import test from "node:test";
import { nullIsAbsent } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { withOneNull } from "../../support/one-null.ts";
import { startTestService } from "../../support/service.ts";

const { api } = await startTestService();
const partner = await createPartner(api);

test("null in an optional field of a body is never what a request is refused for, unless it is a change", async () => {
  let fields = 0;
  for (const route of routes) {
    if (route.body === undefined || !nullIsAbsent(route)) continue;
    const path = route.path.replaceAll(/:[a-z_]+/g, "x");
    for (const { field, body } of withOneNull(route.body)) {
      fields += 1;
      const { error } = (await partner.owner.api.call(route.method, path, { body })).body;
      assert.ok(!error?.message.startsWith(`\`${field}\` must be`), `${route.id}: ${error?.message}`);
    }
  }
  assert.ok(fields >= 15, `${fields} fields were tried`);
});

test("a session is the same with null and without the field", async () => {
  const nothing = {
    template: null,
    share_fields: null,
    redirect_url: null,
    embed_origin: null,
    webhook_endpoint_id: null,
    client_reference_id: null,
    metadata: null,
  };
  const headers = { "idempotency-key": "null" };
  const session = expectData(await partner.api.post("/v1/sessions", nothing, headers), 201);
  assert.deepEqual([session.client_reference_id, session.metadata], [null, {}]);
  // To the service it is the same request.
  assert.equal(expectData(await partner.api.post("/v1/sessions", {}, headers), 201).id, session.id);
});

test("null in a required field, in a list or in a change is refused as before", async () => {
  const { owner } = partner;
  expectError(
    await owner.api.post("/v1/auth/api-keys", { name: null, scopes: [] }),
    400,
    "BAD_REQUEST",
    /`name`/,
  );
  expectError(
    await owner.api.post("/v1/auth/api-keys", { name: "x", scopes: [null] }),
    400,
    "BAD_REQUEST",
    /`scopes/,
  );
  expectError(await owner.api.patch("/v1/auth/orgs", { name: null }), 400, "BAD_REQUEST", /`name`/);
});

import assert from "node:assert/strict";
import test from "node:test";
import { routes } from "@assay/contract/routes";
import { createPartner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { api, url } = await startTestService();
const partner = await createPartner(api);
const errorOf = async (method: string, path: string, body?: unknown) =>
  (await partner.owner.api.call(method, path, body === undefined ? {} : { body })).body.error ?? {
    code: "",
    message: "",
    hint: "",
  };

test("a malformed time is refused with the right form and an example that is accepted", async () => {
  for (const value of ["2026-03-01", "2026-03-01T09:30:00", "1772357400", "2026-03-01T09:30:00+02:00"]) {
    const { message } = await errorOf("GET", `/v1/sessions?created_from=${value}`);
    const example = /^`created_from` must be an ISO 8601 time with zone, for example (\S+) /.exec(
      message,
    )?.[1];
    assert.ok(example, message);
    const accepted = await partner.api.get(`/v1/sessions?created_from=${example}`);
    assert.equal(accepted.status, 200);
  }
});

test("malformed identifiers, days, addresses and names are refused with the right form", async () => {
  const messages = [
    await errorOf("GET", "/v1/sessions?starting_after=x"),
    await errorOf("GET", "/v1/analytics/sessions/overview?from=yesterday"),
    await errorOf("POST", "/v1/auth/orgs/invitations", { email: "ada", role: "member" }),
    await errorOf("PATCH", "/v1/auth/account", { name: "   " }),
    await errorOf("PATCH", "/v1/auth/orgs", { website_url: "acme.example.com" }),
  ].map((error) => error.message);
  assert.deepEqual(messages, [
    "`starting_after` must be `vs_` followed by 64 letters and digits.",
    "`from` must be an ISO 8601 time with a zone, for example 2026-03-01T09:30:00Z.",
    "`email` must be an e-mail address, for example ada@example.com.",
    "`name` must be one line with at least one visible character and no invisible ones.",
    "`website_url` must be an https address without spaces, for example https://www.example.com/privacy.",
  ]);
});

test("a misspelt claim key is answered with the nearest one, and with all of them", async () => {
  const field = { required: true, reason: "To match your account" };
  const { code, message, hint } = await errorOf("POST", "/v1/sessions", {
    share_fields: { familyname: field },
  });
  assert.equal(code, "UNKNOWN_CLAIM_KEY");
  assert.equal(
    message,
    "`share_fields.familyname` is not a field that can be shared. Did you mean `family_name`?",
  );
  assert.match(
    hint,
    /^Ask for one of: document_type_code, .*service_document_id, or age_over_N with N from 12 to 130\.$/,
  );
  const far = await errorOf("POST", "/v1/sessions", { share_fields: { shoe_size: field } });
  assert.equal(far.message, "`share_fields.shoe_size` is not a field that can be shared.");
});

test("a body that is not JSON is refused with the position", async () => {
  const answer = await fetch(`${url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${partner.owner.token}`, "content-type": "application/json" },
    body: '{\n  "locale": "en",\n}',
  });
  const { error } = (await answer.json()) as { error: { message: string } };
  assert.equal(error.message, "The body is not valid JSON: line 3, column 1.");
});

test("no parameter or field of any route is refused without the right form", async () => {
  const vague: string[] = [];
  for (const { id, method, path, query } of routes) {
    if (method !== "GET" || query === undefined) continue;
    for (const [name, schema] of Object.entries(query.properties)) {
      if ((schema as { type?: unknown }).type !== "string") continue;
      const message = (await errorOf(method, `${path}?${name}=%E2%80%8B`)).message;
      if (message.includes("expected form.")) vague.push(`${id} ${name}`);
    }
  }
  assert.deepEqual(vague, []);
});

import assert from "node:assert/strict";
import test from "node:test";
import { errorTable } from "@assay/contract/errors";
import { OrganizationName } from "@assay/contract/organizations";
import { isWrite } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { sql } from "../../../src/platform/db/sql.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { api, core } = await startTestService();
const { owner, api: keyApi } = await createPartner(api);
const headers = { "content-type": "application/json" };

await core.db.run(sql`insert into operator_grants (user_id, granted_at) select id, now() from users`);

// An owner marked as operator may call every route. The text is refused before the handler runs.
test("no route takes U+0000 or half of a surrogate pair in body, query or path", async () => {
  for (const route of routes) {
    const { method, path, params, invalidParams = "BAD_REQUEST" } = route;
    const plain = path.replaceAll(/:[a-z_]+/g, "x");
    expectError(
      await owner.api.call(method, `${plain}?colour=a%00b`),
      400,
      "BAD_REQUEST",
      /^`colour` must not hold the character U\+0000\.$/,
    );
    for (const name of Object.keys(params?.properties ?? {})) {
      const url = path.replace(`:${name}`, "a%00b").replaceAll(/:[a-z_]+/g, "x");
      const message = new RegExp(`^\`${name}\` must not hold`);
      expectError(
        await owner.api.call(method, url),
        errorTable[invalidParams].status,
        invalidParams,
        message,
      );
    }
    if (!isWrite(route)) continue;
    for (const [raw, message] of [
      ['{"a":[{"b":"x\\u0000"}]}', /^`a\.0\.b` must not hold the character U\+0000\.$/],
      ['{"a":{"b":"\\uD800x"}}', /^`a\.b` is not valid Unicode\.$/],
      ['{"a":"\\ude00\\ud83d"}', /^`a` is not valid Unicode\.$/],
      ['{"a":{"\\udfff":1}}', /^The name `a\.\ufffd` is not valid Unicode\.$/],
      ['{"x\\u0000":{}}', /^The name `x\ufffd` must not hold/],
      ['"\\u0000"', /^The body must not hold/],
    ] as const)
      expectError(await owner.api.call(method, plain, { raw, headers }), 400, "BAD_REQUEST", message);
  }
});

test("an address that could not be looked up is refused at the door and leaves no request for a mail", async () => {
  for (const path of ["/v1/auth/sign-in/magic-link", "/v1/auth/password/forgot"])
    expectError(await api.post(path, { email: "a@exam\0ple.com" }), 400, "BAD_REQUEST", /^`email` must not/);
  const password = "correct horse battery";
  for (const path of ["/v1/auth/sign-in/email", "/v1/auth/sign-up/email"])
    expectError(
      await api.post(path, { name: "Ada", email: "a@exam\0ple.com", password }),
      400,
      "BAD_REQUEST",
    );
  assert.deepEqual(await core.db.rows(sql`select id from mail_requests`), []);
  expectError(await owner.api.patch("/v1/auth/orgs", { name: "x\ud800" }), 400, "BAD_REQUEST", /`name`/);
  expectError(await owner.api.get("/v1/auth/orgs/audit-logs?actor_id=%00"), 400, "BAD_REQUEST", /`actor_id`/);
  expectError(await keyApi.post("/v1/webhooks/keys/a%00b/deactivate"), 400, "BAD_REQUEST", /`key_id`/);
});

test("a name is more than white space, of whatever kind: what is left of it is never empty", async () => {
  const { pattern = "" } = OrganizationName as { pattern?: string };
  const fits = new RegExp(pattern, "u");
  for (let code = 0; code < 0x1_0000; code++) {
    const character = String.fromCharCode(code);
    // Halves of surrogate pairs are refused before.
    if (!character.isWellFormed() || !fits.test(character)) continue;
    assert.notEqual(character.trim(), "", `U+${code.toString(16)}`);
  }
  for (const name of ["\ufeff", "\u00a0 \u3000", "\u2028"]) {
    expectError(await owner.api.post("/v1/auth/orgs", { name, slug: "white" }), 400, "BAD_REQUEST", /`name`/);
    expectError(
      await owner.api.post("/v1/auth/api-keys", { name, scopes: [] }),
      400,
      "BAD_REQUEST",
      /`name`/,
    );
    expectError(await owner.api.patch("/v1/auth/account", { name }), 400, "BAD_REQUEST", /`name`/);
  }
  expectData(await owner.api.patch("/v1/auth/account", { name: "\u3000Zoë\u00a0" }));
  assert.equal(expectData(await owner.api.get("/v1/auth/account")).name, "Zoë");
});

test("escapes that only look alike are taken as they are", async () => {
  const reference = "pair \u{1f600}, last \u{10fffd}, and the six characters \\u0000 \\ud800";
  const escaped = JSON.stringify(reference).replaceAll(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  assert.match(escaped, /\\ud83d\\ude00/);
  const raw = `{"client_reference_id":${escaped}}`;
  const session = expectData(await keyApi.call("POST", "/v1/sessions", { raw, headers }), 201);
  assert.equal(session.client_reference_id, reference);
});

test("text that is nested as deep as a body allows is answered", async () => {
  const nested = (depth: number) => ({ raw: `${"[".repeat(depth)}"\\u0000"${"]".repeat(depth)}`, headers });
  const message = /^`0\.0\..* must not hold the character U\+0000\.$/;
  for (const depth of [1000, 8_000])
    expectError(
      await api.call("POST", "/v1/auth/sign-in/magic-link", nested(depth)),
      400,
      "BAD_REQUEST",
      message,
    );
  expectError(await keyApi.call("POST", "/v1/sessions", nested(32_000)), 400, "BAD_REQUEST", message);
  expectData(await api.post("/v1/auth/sign-in/magic-link", { email: "a@example.com" }), 202);
});

test("invisible characters that turn or hide others are refused, with the name of the field", async () => {
  const unseen = [
    ..."\u0080\u0085\u009f\u00ad\u061c\u115f\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202e",
    ..."\u2060\u2066\u2069\u206f\u3164\ufeff",
  ];
  const fields: [string, (text: string) => ReturnType<typeof owner.api.post>][] = [
    ["name", (text) => owner.api.patch("/v1/auth/orgs", { name: `Acme ${text}bank` })],
    ["name", (text) => owner.api.patch("/v1/auth/account", { name: `Ada ${text}L` })],
    ["name", (text) => owner.api.post("/v1/auth/api-keys", { name: `a${text}b`, scopes: [] })],
    [
      "business_name",
      (text) => owner.api.post("/v1/auth/orgs/business-details", { business_name: `A${text}B` }),
    ],
    ["website_url", (text) => owner.api.patch("/v1/auth/orgs", { website_url: `https://a.dev/${text}b` })],
    ["url", (text) => keyApi.post("/v1/webhooks/endpoints", { url: `https://a.example/${text}b` })],
    ["client_reference_id", (text) => keyApi.post("/v1/sessions", { client_reference_id: `a${text}b` })],
  ];
  for (const [field, send] of fields)
    for (const character of unseen)
      expectError(
        await send(character),
        400,
        field === "url" ? "WEBHOOK_URL_REJECTED" : "BAD_REQUEST",
        new RegExp(`\`${field}\``),
      );
  const shareFields = { family_name: { required: true, reason: "for \u202eyou" } };
  expectError(
    await keyApi.post("/v1/sessions", { share_fields: shareFields }),
    400,
    "BAD_REQUEST",
    /invisible/,
  );
  for (const slash of [..."\u2044\u2215\u29f8\uff0f\uff0e\u3002"])
    expectError(
      await owner.api.patch("/v1/auth/orgs", { privacy_url: `https://www.apple.com${slash}x.evil.dev/` }),
      400,
      "BAD_REQUEST",
      /`privacy_url`/,
    );
});

test("names of every script are taken, with the joiners that some cannot be spelt without", async () => {
  for (const name of [
    "کتاب\u200cخانه",
    "ක්\u200dෂ",
    "👩\u200d🔬 Lab",
    "بنك ٧",
    "Zoë’s – №1 «Café»",
    "東京\u3000支店",
  ]) {
    const answer = expectData(await owner.api.patch("/v1/auth/orgs", { name }));
    assert.equal(answer.name, name);
  }
  for (const blank of ["\u200d", " \u00a0 ", "\u3000", "\u200c\u200c", "\u2800"])
    expectError(await owner.api.patch("/v1/auth/orgs", { name: blank }), 400, "BAD_REQUEST", /`name`/);
  expectData(await owner.api.patch("/v1/auth/orgs", { website_url: "https://münchen.de/straße?a=b#c" }));
});

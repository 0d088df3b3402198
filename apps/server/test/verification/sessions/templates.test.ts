import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { promisify } from "node:util";
import { pageLanguages, templatesPerEnvironment } from "@assay/contract/facts";
import { type Api, createKey, createPartner, expectData, expectError, readAll } from "../../support/api.ts";
import { createLivePartner, openLive } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";

const { api, clock, core, databaseUrl } = await startTestService({ role: "api" });
const second = await startTestService({ databaseUrl, clock, role: "api" });

const adults = {
  required: true,
  reason: "We may only serve adults.",
  reasons: { de: "Wir bedienen nur Erwachsene.", ar: "نخدم البالغين فقط." },
};
const content = {
  share_fields: { age_over_18: adults, nationality_code: { required: false, reason: "For the tax form." } },
  methods: ["wallet_pid", "document_chip"],
  requirements: { binding: "required" },
  locale: "de",
  redirect_url: "https://shop.example.com/done",
};

async function createTemplate(of: Api, body: Record<string, unknown>) {
  return expectData(await of.post("/v1/templates", body), 201);
}

/** What a session says about what it was asked for. */
function askedOf(session: any) {
  const { share_fields: shared, methods, requirements, locale, redirect_url } = session;
  const { service_document_id: _, ...fields } = shared;
  return { fields, methods, binding: requirements.binding, locale, redirect_url };
}

test("a template is created, read, listed, changed and deleted, and shows what it was given", async () => {
  const { api: key } = await createPartner(api);
  const created = await createTemplate(key, { name: "  Age check ", ...content });
  assert.match(created.id, /^vst_[A-Za-z0-9]{32}$/);
  const now = clock.now().toISOString();
  const shown = { id: created.id, environment: "sandbox", name: "Age check", ...content };
  assert.deepEqual(created, { ...shown, created_at: now, updated_at: now });
  assert.deepEqual(expectData(await key.get(`/v1/templates/${created.id}`)), created);
  assert.deepEqual(expectData(await key.get("/v1/templates")), [created]);

  clock.advance(1_000);
  const body = { name: "Adults", methods: null, share_fields: { age_over_21: adults } };
  const changed = expectData(await key.patch(`/v1/templates/${created.id}`, body));
  const later = clock.now().toISOString();
  assert.deepEqual(changed, { ...created, ...body, updated_at: later });

  assert.equal((await key.delete(`/v1/templates/${created.id}`)).status, 204);
  for (const method of ["GET", "DELETE"])
    expectError(await key.call(method, `/v1/templates/${created.id}`), 404, "NOT_FOUND");
  expectError(await key.patch(`/v1/templates/${created.id}`, { name: "x" }), 404, "NOT_FOUND");
});

test("a template that says nothing but its name is null throughout, and its sessions are as without it", async () => {
  const { api: key } = await createPartner(api);
  const created = await createTemplate(key, { name: "Nothing" });
  for (const field of Object.keys(content)) assert.equal(created[field], null, field);
  const session = expectData(await key.post("/v1/sessions", { template: "Nothing" }), 201);
  const plain = expectData(await key.post("/v1/sessions"), 201);
  assert.deepEqual(askedOf(session).fields, {});
  assert.deepEqual([session.methods, session.locale], [plain.methods, plain.locale]);
});

test("a session is created from a template by its id or by its name in any case, and names the template", async () => {
  const { api: key } = await createPartner(api);
  const { id } = await createTemplate(key, { name: "Été À 18", ...content });
  for (const template of [id, "Été À 18", "été à 18", " ÉTÉ À 18 ", "E\u0301té À 18"]) {
    const session = expectData(await key.post("/v1/sessions", { template }), 201);
    assert.equal(session.template_id, id);
    assert.deepEqual(askedOf(session), {
      fields: {
        age_over_18: { ...adults, source: "rc" },
        nationality_code: { ...content.share_fields.nationality_code, source: "rc" },
      },
      methods: content.methods,
      binding: "required",
      locale: "de",
      redirect_url: content.redirect_url,
    });
    assert.equal(expectData(await key.get(`/v1/sessions/${session.id}`)).template_id, id);
  }
});

test("each field of the request replaces the template's as a whole, and the rest of the request counts as ever", async () => {
  const { api: key } = await createPartner(api);
  await createTemplate(key, { name: "base", ...content });
  const own = {
    share_fields: { family_name: { required: true, reason: "To address you." } },
    methods: ["document_chip"],
    requirements: { clone_detection: "required" },
    locale: "fr",
    redirect_url: "https://other.example.com/",
  };
  for (const [field, value] of Object.entries(own)) {
    const session = expectData(await key.post("/v1/sessions", { template: "base", [field]: value }), 201);
    const asked = askedOf(session);
    const fields = Object.keys(field === "share_fields" ? own.share_fields : content.share_fields);
    assert.deepEqual(Object.keys(asked.fields), fields);
    assert.deepEqual(asked.methods, field === "methods" ? own.methods : content.methods);
    assert.equal(asked.binding, field === "requirements" ? "preferred" : "required");
    assert.equal(asked.locale, field === "locale" ? "fr" : "de");
    assert.equal(asked.redirect_url, field === "redirect_url" ? own.redirect_url : content.redirect_url);
  }
  // Null counts as absent, so the template's value stays.
  const kept = expectData(await key.post("/v1/sessions", { template: "base", redirect_url: null }), 201);
  assert.equal(kept.redirect_url, content.redirect_url);
  const noted = { template: "base", client_reference_id: "order-1", metadata: { a: "b" } };
  const { client_reference_id, metadata } = expectData(await key.post("/v1/sessions", noted), 201);
  assert.deepEqual([client_reference_id, metadata], ["order-1", { a: "b" }]);
});

test("a session stays what it was when its template is changed or deleted, also on another process", async () => {
  const partner = await createPartner(api);
  const elsewhere = second.api.as(partner.key.secret);
  const { id } = await createTemplate(partner.api, { name: "copied", ...content });
  const session = expectData(await elsewhere.post("/v1/sessions", { template: id }), 201);
  const { cancel_token: _, ...before } = session;

  expectData(await partner.api.patch(`/v1/templates/${id}`, { locale: "it", share_fields: null }));
  const next = expectData(await elsewhere.post("/v1/sessions", { template: "copied" }), 201);
  assert.deepEqual([next.locale, askedOf(next).fields], ["it", {}], "the other process has no old copy");
  assert.equal((await elsewhere.delete(`/v1/templates/${id}`)).status, 204);
  expectError(await partner.api.post("/v1/sessions", { template: id }), 400, "UNKNOWN_TEMPLATE");

  const after = expectData(await elsewhere.get(`/v1/sessions/${session.id}`));
  assert.deepEqual(after, { ...before, consent: null });
  assert.equal(after.template_id, id);
});

test("a template that does not exist is refused by the name of its field, alike for another tenant's", async () => {
  const [mine, theirs] = [await createPartner(api), await createPartner(api)];
  const { id } = await createTemplate(theirs.api, { name: "theirs" });
  const answers = [];
  for (const template of ["theirs", id, `vst_${"a".repeat(32)}`, "nothing of the kind"]) {
    const answer = await mine.api.post("/v1/sessions", { template });
    expectError(answer, 400, "UNKNOWN_TEMPLATE", /`template`/);
    answers.push(answer.text);
  }
  assert.equal(new Set(answers).size, 1);
  // Nor does one environment know the templates of the other.
  await openLive(core, theirs.organizationId);
  const live = (await createKey(theirs.owner, undefined, "live")).api;
  expectError(await live.post("/v1/sessions", { template: "theirs" }), 400, "UNKNOWN_TEMPLATE");
  expectError(await live.get(`/v1/templates/${id}`), 404, "NOT_FOUND");
  assert.deepEqual(expectData(await live.get("/v1/templates")), []);
  assert.equal((await createTemplate(live, { name: "theirs" })).environment, "live");
});

test("what neither request nor template has is named, with where the other fields came from", async () => {
  const { api: key } = await createPartner(api);
  const { id } = await createTemplate(key, { name: "age only", methods: ["wallet_age"] });
  const answer = await key.post("/v1/sessions", { template: "age only", locale: "de" });
  expectError(answer, 400, "INVALID_REQUEST", /wallet_age lacks `share_fields/);
  const hint = answer.body.error?.hint ?? "";
  assert.ok(hint.includes(`The request gave \`locale\`, the template ${id} gave \`methods\`.`), hint);
  // The request brings what is missing.
  const shareFields = { age_over_18: adults };
  expectData(await key.post("/v1/sessions", { template: "age only", share_fields: shareFields }), 201);
  // A field of the request that does not fit is named as without a template.
  const wrong = { template: id, share_fields: { shoe_size: adults } };
  expectError(await key.post("/v1/sessions", wrong), 400, "UNKNOWN_CLAIM_KEY", /`share_fields.shoe_size`/);
});

test("a template is refused for what every session would be refused for, when it is created and when it is changed", async () => {
  const { api: key } = await createPartner(api);
  const { id } = await createTemplate(key, { name: "good", ...content });
  const field = (reason: string) => ({ age_over_18: { required: true, reason } });
  const cases: [Record<string, unknown>, string, RegExp][] = [
    [{ share_fields: { shoe_size: adults } }, "UNKNOWN_CLAIM_KEY", /`share_fields.shoe_size`/],
    [{ share_fields: { age_over_18: adults, age_over_21: adults } }, "INVALID_REQUEST", /`share_fields`/],
    [{ share_fields: field(" ") }, "BAD_REQUEST", /`share_fields.age_over_18.reason`/],
    [{ share_fields: field("x".repeat(201)) }, "BAD_REQUEST", /at most 200/],
    [{ share_fields: field("a\u202Eb") }, "BAD_REQUEST", /invisible/],
    [{ share_fields: { age_over_18: { ...adults, reasons: { xx: "?" } } } }, "BAD_REQUEST", /xx/],
    [{ redirect_url: "http://shop.example.com" }, "INVALID_REQUEST", /`redirect_url`/],
    [{ redirect_url: "javascript:alert(1)" }, "BAD_REQUEST", /`redirect_url`/],
    [{ redirect_url: "https://a:b@shop.example.com" }, "INVALID_REQUEST", /credentials/],
    [{ methods: ["document_chip", "document_chip"] }, "BAD_REQUEST", /`methods`/],
    [{ methods: ["wallet_age"], share_fields: { family_name: adults } }, "INVALID_REQUEST", /family_name/],
    [{ requirements: { clone_detection: "always" } }, "BAD_REQUEST", /clone_detection/],
    [{ locale: "tlh" }, "BAD_REQUEST", /`locale`/],
    [{ metadata: { a: "b" } }, "BAD_REQUEST", /`metadata`/],
    [{ name: "" }, "BAD_REQUEST", /`name`/],
    [{ name: "x".repeat(121) }, "BAD_REQUEST", /`name`/],
    [{ name: "a\u0000b" }, "BAD_REQUEST", /`name`/],
    [{ name: "VST_mine" }, "BAD_REQUEST", /`name` must not begin with vst_/],
  ];
  for (const [wrong, code, message] of cases) {
    expectError(await key.post("/v1/templates", { name: "bad", ...wrong }), 400, code, message);
    expectError(await key.patch(`/v1/templates/${id}`, wrong), 400, code, message);
  }
  expectError(await key.post("/v1/templates", { locale: "de" }), 400, "BAD_REQUEST", /`name`/);
  expectError(await key.patch(`/v1/templates/${id}`, {}), 400, "BAD_REQUEST");
  expectError(await key.get("/v1/templates/vst_short"), 400, "BAD_REQUEST");
  expectError(await key.post("/v1/sessions", { template: { id } }), 400, "BAD_REQUEST", /`template`/);
  // Each part is valid alone: the resulting template is checked.
  expectData(await key.patch(`/v1/templates/${id}`, { methods: ["wallet_age"] }));
  const half = { share_fields: { family_name: adults } };
  expectError(await key.patch(`/v1/templates/${id}`, half), 400, "INVALID_REQUEST", /wallet_age/);
  assert.equal(expectData(await key.get("/v1/templates")).length, 1);
});

test("texts that look like SQL, markup or another script come back as they were written", async () => {
  const { api: key } = await createPartner(api);
  for (const name of ["'; drop table session_templates; --", "<b>%s</b> $1", "50 % _", "الاسم", "\\u0000"]) {
    const field = { required: true, reason: name };
    const { id } = await createTemplate(key, { name, share_fields: { family_name: field } });
    const session = expectData(await key.post("/v1/sessions", { template: name }), 201);
    assert.equal(session.template_id, id);
    assert.equal(session.share_fields.family_name.reason, name);
  }
  // Neither a wild card nor a part of a name finds a template.
  for (const template of ["%", "5", "50 % x"])
    expectError(await key.post("/v1/sessions", { template }), 400, "UNKNOWN_TEMPLATE");
});

test("in live a redirect needs a verified domain, when the template is saved and when it is used", async () => {
  const { api: live } = await createLivePartner(core, api);
  const body = { name: "live", redirect_url: "https://shop.example.com/done" };
  expectError(await live.post("/v1/templates", body), 400, "INVALID_REQUEST", /`redirect_url`/);
  await createTemplate(live, { name: "live", share_fields: { age_over_18: adults } });
  expectData(await live.post("/v1/sessions", { template: "live" }), 201);
});

test("a name is taken once in an environment, whatever its case and whichever process is asked", async () => {
  const partner = await createPartner(api);
  const elsewhere = second.api.as(partner.key.secret);
  const names = ["Straße", "straße", "STRAßE", "Straße"];
  const answers = await Promise.all(
    names.map((name, at) => (at % 2 === 0 ? partner.api : elsewhere).post("/v1/templates", { name })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
  for (const answer of answers.filter(({ status }) => status === 409))
    expectError(answer, 409, "TEMPLATE_NAME_TAKEN", /`name`/);

  const [{ id }] = expectData<any>(await partner.api.get("/v1/templates"));
  const other = await createTemplate(partner.api, { name: "other" });
  const taken = await partner.api.patch(`/v1/templates/${other.id}`, { name: "STRAßE" });
  expectError(taken, 409, "TEMPLATE_NAME_TAKEN");
  expectData(await partner.api.patch(`/v1/templates/${id}`, { name: "STRAßE" }));
  await createTemplate((await createPartner(api)).api, { name: "Straße" });
});

test("an organization has at most so many templates in an environment, also when two processes create at once", async () => {
  const partner = await createPartner(api);
  const elsewhere = second.api.as(partner.key.secret);
  for (let at = 0; at < templatesPerEnvironment - 1; at++)
    await createTemplate(partner.api, { name: `template ${at}` });
  const answers = await Promise.all(
    [partner.api, elsewhere].map((of, at) => of.post("/v1/templates", { name: `last ${at}` })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  const refused = answers.find(({ status }) => status === 409) ?? assert.fail();
  expectError(refused, 409, "TEMPLATE_LIMIT_REACHED");
  const all = await readAll(partner.api, "/v1/templates", {}, 30);
  assert.equal(all.length, templatesPerEnvironment);
  assert.deepEqual(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .sort()
      .reverse(),
    "newest first",
  );
  expectData(await partner.api.delete(`/v1/templates/${all[0]?.id}`), 204);
  await createTemplate(partner.api, { name: "in its place" });
});

test("the same idempotency key creates one template, and another body with it is refused", async () => {
  const { api: key } = await createPartner(api);
  const headers = { "idempotency-key": "template-1" };
  const first = await key.post("/v1/templates", { name: "once" }, headers);
  const again = await key.post("/v1/templates", { name: "once" }, headers);
  assert.equal(expectData(again, 201).id, expectData(first, 201).id);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  const other = await key.post("/v1/templates", { name: "twice" }, headers);
  expectError(other, 409, "IDEMPOTENCY_KEY_REUSED");
});

test("reading needs sessions:read and writing sessions:write; members read, admins write", async () => {
  const partner = await createPartner(api);
  const reader = (await createKey(partner.owner, ["sessions:read"])).api;
  const writer = (await createKey(partner.owner, ["sessions:write"])).api;
  expectError(await reader.post("/v1/templates", { name: "x" }), 403, "FORBIDDEN");
  const { id } = await createTemplate(writer, { name: "x" });
  expectError(await writer.get(`/v1/templates/${id}`), 403, "FORBIDDEN");
  expectData(await reader.get(`/v1/templates/${id}`));
  // A session from a template needs no right to read templates.
  expectData(await writer.post("/v1/sessions", { template: "x" }), 201);
});

test("a template holds reasons in every language of the page", async () => {
  const { api: key } = await createPartner(api);
  const reasons = Object.fromEntries(
    pageLanguages.map((language) => [language, `${language} `.repeat(40).trim()]),
  );
  const shareFields = { age_over_18: { required: true, reason: "Why", reasons } };
  const created = await createTemplate(key, { name: "all languages", share_fields: shareFields });
  const session = expectData(await key.post("/v1/sessions", { template: created.id }), 201);
  assert.deepEqual(session.share_fields.age_over_18.reasons, reasons);
});

test("every command of the guide to templates works as it is printed", async (t) => {
  const run = promisify(execFile);
  const missing = await run("curl", ["--version"]).then(
    () => false,
    () => true,
  );
  if (missing) return t.skip("no curl on this machine");
  const { api: key, key: apiKey } = await createPartner(api);
  const guide = readFileSync(new URL("../../../../../docs/templates.md", import.meta.url), "utf8");
  const blocks = [...guide.matchAll(/^```sh guide\n([\s\S]*?)^```/gm)].map(([, code]) => code ?? "");
  assert.equal(blocks.length, 4);
  const env = { PATH: process.env.PATH ?? "", BASE: api.url, ASSAY_API_KEY: apiKey.secret };
  const { stdout } = await run("sh", ["-eu", "-c", blocks.join("\necho\n")], { env });
  const answers = stdout
    .split(/(?<=\})\s*(?=\{"data")/)
    .map((text) => JSON.parse(text) as { data: any; error: null | { message: string } });
  const errors = answers.flatMap(({ error }) => (error === null ? [] : [error.message]));
  assert.deepEqual(errors, []);
  const [template, session, overriding, changed] = answers.map(({ data }) => data);
  assert.equal(session.template_id, template.id);
  assert.equal(session.share_fields.age_over_18.reasons.de, "Wir bedienen nur Erwachsene.");
  assert.deepEqual(Object.keys(overriding.share_fields), ["family_name", "service_document_id"]);
  assert.equal(overriding.redirect_url, template.redirect_url);
  assert.deepEqual([changed.locale, changed.redirect_url], ["de", null]);
  assert.equal(answers.length, 5, "the last answer has no body");
  assert.deepEqual(expectData(await key.get("/v1/templates")), []);
});

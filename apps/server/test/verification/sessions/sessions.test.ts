import assert from "node:assert/strict";
import test from "node:test";
import { shownText } from "@assay/contract/shown-text";
import fc from "fast-check";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { idFloor, newUuid } from "../../../src/platform/kernel/ids.ts";
import { anyCharacter } from "../../support/any-text.ts";
import { type Api, allScopes, createKey, createPartner, expectData, expectError } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { startTestService } from "../../support/service.ts";

const { api, clock, core, url, logLines } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});

const someId = `vs_${"a".repeat(64)}`;

test("a session is created without a body, with every field and a token that is shown once", async () => {
  const partner = await createPartner(api);
  const answer = await partner.api.post("/v1/sessions");
  const session = expectData(answer, 201);
  assert.match(session.id, /^vs_[A-Za-z0-9]{64}$/);
  const now = clock.now();
  const { cancel_token, ...shown } = session;
  assert.match(cancel_token, /^[A-Za-z0-9]{43}$/);
  assert.deepEqual(shown, {
    id: session.id,
    status: "created",
    failure_code: null,
    unmet_requirement: null,
    nfc_tries_used: 0,
    liveness_tries_used: 0,
    methods: ["document_chip"],
    contract_version: 1,
    share_fields: {
      service_document_id: {
        required: true,
        reason: session.share_fields.service_document_id.reason,
        source: "default",
      },
    },
    requirements: { clone_detection: "preferred", revocation: "preferred", binding: "preferred" },
    evidence: null,
    locale: null,
    redirect_url: `${url}/verify/${session.id}/complete`,
    return_code_sha256: null,
    template_id: null,
    embed_origin: null,
    webhook_endpoint_id: null,
    client_reference_id: null,
    metadata: {},
    sandbox: true,
    verification_url: `${url}/verify/${session.id}`,
    expires_at: new Date(now.getTime() + 60 * minuteMs).toISOString(),
    completed_at: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  });
  const whole = { ...shown, consent: null };
  assert.deepEqual(expectData(await partner.api.get(`/v1/sessions/${session.id}`)), whole);
  const list = await partner.api.get("/v1/sessions");
  assert.deepEqual(expectData(list), [shown]);
  assert.deepEqual(list.body.pagination, { limit: 10, has_more: false, next_cursor: null });
  const { dump } = await core.db.one<{ dump: string }>(sql`select json_agg(s)::text as dump from sessions s`);
  assert.ok(!dump.includes(cancel_token), "the token is not stored");
  assert.ok(!logLines.some((line) => line.includes(cancel_token)));
});

test("an empty JSON object is the same as no body", async () => {
  const partner = await createPartner(api);
  expectData(await partner.api.post("/v1/sessions", {}), 201);
});

test("everything that was asked for is read back as it was written", async () => {
  const partner = await createPartner(api);
  const body = {
    redirect_url: "https://shop.example.com/done?order=1#top",
    share_fields: {
      nationality_code: { required: false, reason: "  For the tax form.  " },
      age_over_18: { required: true, reason: "You must be an adult." },
      service_document_id: { required: false, reason: "To know you again." },
    },
    client_reference_id: "order 7391",
    metadata: { zebra: "1", apple: "", "naïve key": "Grüße 🦓" },
  };
  const session = expectData(await partner.api.post("/v1/sessions", body), 201);
  assert.equal(session.redirect_url, body.redirect_url);
  assert.equal(session.client_reference_id, "order 7391");
  assert.deepEqual(session.metadata, body.metadata);
  assert.deepEqual(Object.keys(session.metadata), Object.keys(body.metadata));
  assert.deepEqual(session.share_fields, {
    nationality_code: { required: false, reason: "For the tax form.", source: "rc" },
    age_over_18: { required: true, reason: "You must be an adult.", source: "rc" },
    service_document_id: { required: true, reason: "To know you again.", source: "rc" },
  });
  assert.deepEqual(Object.keys(session.share_fields), Object.keys(body.share_fields));
});

test("metadata and redirect_url hold no invisible character", async () => {
  const partner = await createPartner(api);
  for (const hidden of [
    "\u202e",
    "\u200b",
    "\u034f",
    "\ufe00",
    "\uffff",
    "\u{e0041}",
    "\u{e0100}",
    "\u{1d173}",
  ]) {
    const post = (body: unknown) => partner.api.post("/v1/sessions", body);
    expectError(await post({ metadata: { note: `a${hidden}b` } }), 400, "BAD_REQUEST", /`metadata\.note`/);
    expectError(await post({ metadata: { [`a${hidden}b`]: "x" } }), 400, "BAD_REQUEST", /name/);
    expectError(
      await post({ redirect_url: `https://shop.example/${hidden}` }),
      400,
      "BAD_REQUEST",
      /`redirect_url`/,
    );
  }
  const metadata = { note: "two\nlines, 👩\u200d🔬 and ❤\ufe0f" };
  assert.deepEqual(expectData(await partner.api.post("/v1/sessions", { metadata }), 201).metadata, metadata);
});

test("any text in metadata, reason and reference survives the way there and back", async () => {
  const partner = await createPartner(api);
  // Invisible characters are refused; tabs and line breaks are allowed in values.
  const text = fc.string({ maxLength: 20, unit: anyCharacter }).filter((s) => shownText(s) === s);
  // Texts for people must have no invisible characters and at least one visible one.
  const word = fc
    .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
    .filter((s) => shownText(s) === s && !/[\n\r\t]/.test(s) && /\S/.test(s));
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        text.filter((key) => key !== "" && key !== "__proto__" && !/[\n\r\t]/.test(key)),
        text,
      ),
      word,
      async (metadata, reason) => {
        const body = {
          metadata,
          client_reference_id: reason,
          share_fields: { sex_marker: { required: true, reason } },
        };
        const created = expectData(await partner.api.post("/v1/sessions", body), 201);
        const read = expectData(await partner.api.get(`/v1/sessions/${created.id}`));
        assert.deepEqual(read.metadata, { ...metadata });
        assert.equal(read.share_fields.sex_marker.reason, reason.trim());
        const found = expectData(
          await partner.api.get("/v1/sessions", { client_reference_id: reason, limit: 1 }),
        );
        assert.equal(found[0].client_reference_id, reason);
      },
    ),
    { numRuns: 40 },
  );
});

test("each create makes a new session; an Idempotency-Key makes a repetition safe", async () => {
  const partner = await createPartner(api);
  const first = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const second = expectData(await partner.api.post("/v1/sessions", {}), 201);
  assert.notEqual(first.id, second.id);
  const headers = { "idempotency-key": "once" };
  const original = await partner.api.post("/v1/sessions", {}, headers);
  const repeated = await partner.api.post("/v1/sessions", {}, headers);
  assert.equal(repeated.text, original.text);
  assert.equal(repeated.headers.get("idempotent-replayed"), "true");
});

test("bad input of every kind gets its code, and the message names the field", async () => {
  const partner = await createPartner(api);
  const field = { required: true, reason: "because" };
  const refused = async (body: unknown, code: string, message: RegExp) =>
    expectError(await partner.api.post("/v1/sessions", body), 400, code, message);

  await refused({ colour: 1 }, "BAD_REQUEST", /`colour` is not a field/);
  await refused([], "BAD_REQUEST", /body must be an object/);
  await refused({ share_fields: [] }, "BAD_REQUEST", /`share_fields` must be an object/);
  await refused({ share_fields: { sex_marker: true } }, "BAD_REQUEST", /`share_fields.sex_marker` must be/);
  await refused(
    { share_fields: { sex_marker: { reason: "because" } } },
    "BAD_REQUEST",
    /`share_fields.sex_marker.required` is required/,
  );
  await refused(
    { share_fields: { sex_marker: { required: true } } },
    "BAD_REQUEST",
    /`share_fields.sex_marker.reason` is required/,
  );
  await refused(
    { share_fields: { sex_marker: { ...field, required: "yes" } } },
    "BAD_REQUEST",
    /`share_fields.sex_marker.required` must be a boolean/,
  );
  await refused(
    { share_fields: { sex_marker: { ...field, source: "rc" } } },
    "BAD_REQUEST",
    /`share_fields.sex_marker.source` is not a field/,
  );
  for (const reason of ["", "   ", "x".repeat(201), "two\nlines"]) {
    await refused(
      { share_fields: { sex_marker: { required: true, reason } } },
      "BAD_REQUEST",
      /`share_fields.sex_marker.reason` must/,
    );
  }
  const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`claim_${i}`, field]));
  await refused({ share_fields: tooMany }, "BAD_REQUEST", /`share_fields` must have at most 32/);
  for (const key of ["favourite_colour", "age_over_11", "age_over_131", "age_over_018", "Family_Name"]) {
    await refused({ share_fields: { [key]: field } }, "UNKNOWN_CLAIM_KEY", new RegExp(`share_fields.${key}`));
  }
  await refused(
    { share_fields: { age_over_18: field, age_over_21: field } },
    "INVALID_REQUEST",
    /`share_fields`.*age_over_18, age_over_21/,
  );

  await refused({ redirect_url: 5 }, "BAD_REQUEST", /`redirect_url` must be a string/);
  await refused({ redirect_url: "" }, "BAD_REQUEST", /`redirect_url`/);
  await refused({ redirect_url: "shop" }, "BAD_REQUEST", /`redirect_url` must be a complete URL/);
  await refused({ redirect_url: "https:shop.example" }, "BAD_REQUEST", /`redirect_url`/);
  await refused({ redirect_url: "https://a.example/\tb" }, "BAD_REQUEST", /`redirect_url`/);
  await refused(
    { redirect_url: `https://a.example/${"x".repeat(2048)}` },
    "BAD_REQUEST",
    /`redirect_url` must have at most 2048/,
  );
  await refused(
    { redirect_url: "http://shop.example.com" },
    "INVALID_REQUEST",
    /`redirect_url` must start with https/,
  );
  await refused(
    { redirect_url: "http://localhost.example.com" },
    "INVALID_REQUEST",
    /`redirect_url` must start with https/,
  );
  await refused({ redirect_url: "ftp://shop.example.com" }, "INVALID_REQUEST", /`redirect_url`/);
  await refused(
    { redirect_url: "https://user:secret@shop.example.com" },
    "INVALID_REQUEST",
    /`redirect_url` must not hold credentials/,
  );

  await refused({ webhook_endpoint_id: "whe_1" }, "BAD_REQUEST", /`webhook_endpoint_id`/);
  await refused(
    { webhook_endpoint_id: `whe_${"a".repeat(32)}` },
    "INVALID_REQUEST",
    /`webhook_endpoint_id` names no enabled/,
  );
  await refused({ client_reference_id: "" }, "BAD_REQUEST", /`client_reference_id`/);
  await refused(
    { client_reference_id: "x".repeat(201) },
    "BAD_REQUEST",
    /`client_reference_id` must have at most 200/,
  );
  await refused({ client_reference_id: "a\u0000b" }, "BAD_REQUEST", /`client_reference_id`/);
  await refused({ client_reference_id: "a\ud800b" }, "BAD_REQUEST", /`client_reference_id`/);

  await refused({ metadata: { a: 1 } }, "BAD_REQUEST", /`metadata.a` must be a string/);
  await refused({ metadata: { a: "x".repeat(501) } }, "BAD_REQUEST", /`metadata.a` must have at most 500/);
  await refused({ metadata: { [`k${"x".repeat(40)}`]: "" } }, "BAD_REQUEST", /name `metadata.kx+` .* 40/);
  await refused({ metadata: { "": "" } }, "BAD_REQUEST", /metadata/);
  await refused(
    { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ""])) },
    "BAD_REQUEST",
    /`metadata` must have at most 20/,
  );
  const { count } = await core.db.one<{ count: number }>(
    sql`select count(*) as count from sessions where organization_id = ${partner.organizationId}`,
  );
  assert.equal(count, 0);
});

test("a field that cannot be shared is answered with the one that was probably meant, where there is one", async () => {
  const partner = await createPartner(api);
  const messageFor = async (key: string): Promise<string> => {
    const shareFields = { [key]: { required: true, reason: "because" } };
    const { body } = await partner.api.post("/v1/sessions", { share_fields: shareFields });
    assert.equal(body.error?.code, "UNKNOWN_CLAIM_KEY");
    return body.error.message;
  };
  assert.match(await messageFor("date_of_brith"), /Did you mean `date_of_birth`\?$/);
  assert.match(await messageFor("ageOver18"), /Did you mean `age_over_18`\?$/);
  assert.doesNotMatch(await messageFor("favourite_colour"), /Did you mean/);
});

test("in the sandbox people may be sent to any https address and to localhost", async () => {
  const partner = await createPartner(api);
  for (const redirectUrl of [
    "https://shop.example.com",
    "https://10.0.0.1:8443/x",
    "http://localhost",
    "http://localhost:3000/done",
    "https://münchen.example/weiter",
  ]) {
    const session = expectData(await partner.api.post("/v1/sessions", { redirect_url: redirectUrl }), 201);
    assert.equal(session.redirect_url, redirectUrl);
  }
});

test("live, an address off the verified domains is refused with the rule", async () => {
  const partner = await createLivePartner(core, api);
  for (const [redirectUrl, message] of [
    ["http://localhost:3000", /`redirect_url` must start with https/],
    ["https://nobody.example.com/x", /`redirect_url` is not allowed: .*verified domain/],
  ] as const) {
    expectError(
      await partner.api.post("/v1/sessions", { redirect_url: redirectUrl }),
      400,
      "INVALID_REQUEST",
      message,
    );
  }
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  assert.equal(session.sandbox, false);
});

test("a session may be framed by the one origin that was named: on a verified domain, or localhost in the sandbox", async () => {
  const partner = await createPartner(api);
  const now = clock.now();
  const [mine, someones] = [newUuid(now), newUuid(now)];
  const add = (id: string, of: string, name: string) =>
    core.db.run(sql`
      insert into verified_domains (id, organization_id, apex_domain, token_hash, verified_at, next_check_at)
      values (${id}, ${of}, ${name}, '', ${now}, ${later(now, 400 * dayMs)})`);
  await add(mine, partner.organizationId, "frames.example");
  await add(someones, (await createPartner(api)).organizationId, "other-frames.example");
  const create = (embed_origin: string) => partner.api.post("/v1/sessions", { embed_origin });
  const ancestorsOf = async (id: string, fetchDest?: string) => {
    const headers = fetchDest === undefined ? {} : { "sec-fetch-dest": fetchDest };
    const answer = await fetch(`${url}/verify/${id}`, { headers });
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.equal(answer.headers.get("x-frame-options") === null, !policy.endsWith("frame-ancestors 'none'"));
    assert.match(policy, /^default-src 'none'; script-src 'self'/);
    return /frame-ancestors (.*)$/.exec(policy)?.[1];
  };
  for (const [asked, stored] of [
    ["https://frames.example", "https://frames.example"],
    ["https://Shop.Frames.example", "https://shop.frames.example"],
    ["http://localhost:4000", "http://localhost:4000"],
    ["https://localhost", "https://localhost"],
  ] as const) {
    const session = expectData(await create(asked), 201);
    assert.equal(session.embed_origin, stored);
    assert.equal(await ancestorsOf(session.id), stored);
    assert.equal(await ancestorsOf(session.id, "iframe"), stored);
    assert.equal(await ancestorsOf(session.id, "document"), "'none'");
    assert.equal(expectData(await api.get(`/v1/verify/session/${session.id}/details`)).embed_origin, stored);
  }
  for (const bad of [
    "frames.example",
    "https://frames.example/",
    "https://frames.example/shop",
    "https://frames.example:443",
    "https://frames.example; script-src *",
    "https://a@frames.example",
    "https://*.frames.example",
    "*",
    "null",
  ])
    expectError(await create(bad), 400, "BAD_REQUEST", /`embed_origin` must be an origin/);
  for (const [refused, message] of [
    ["https://other-frames.example", /not on a verified domain/],
    ["https://notframes.example", /not on a verified domain/],
    ["https://frames.example:8443", /default port/],
    ["http://frames.example", /begin with https/],
    ["http://localhost.frames.example", /begin with https/],
    ["http://127.0.0.1:4000", /begin with https/],
    ["ftp://localhost", /begin with https/],
  ] as const)
    expectError(await create(refused), 400, "EMBED_ORIGIN_NOT_ALLOWED", message);

  const session = expectData(await create("https://frames.example"), 201);
  const local = expectData(await create("http://localhost:4000"), 201);
  assert.equal(await ancestorsOf(expectData(await partner.api.post("/v1/sessions"), 201).id), "'none'");
  await core.db.run(sql`update verified_domains set downgraded_at = ${now} where id = ${mine}`);
  assert.equal(await ancestorsOf(session.id), "'none'", "the domain was lost");
  assert.equal(expectData(await api.get(`/v1/verify/session/${session.id}/details`)).embed_origin, null);
  await core.db.run(sql`update sessions set sandbox = false where id = ${local.id}`);
  assert.equal(await ancestorsOf(local.id), "'none'", "no live session is framed by a local page");
  const live = await createLivePartner(core, api);
  const refused = await live.api.post("/v1/sessions", { embed_origin: "http://localhost:4000" });
  expectError(refused, 400, "EMBED_ORIGIN_NOT_ALLOWED", /must begin with https/);
});

test("live, an address on a verified domain is taken, and where patterns are registered it must match one", async () => {
  const partner = await createLivePartner(core, api);
  const now = clock.now();
  const domain = newUuid(now);
  await core.db.run(sql`
    insert into verified_domains (id, organization_id, apex_domain, token_hash, verified_at, next_check_at)
    values (${domain}, ${partner.organizationId}, 'sessions-live.example', '', ${now},
      ${later(now, 400 * dayMs)})`);
  const create = (redirect_url: string) => partner.api.post("/v1/sessions", { redirect_url });
  const session = expectData(await create("https://shop.sessions-live.example/done"), 201);
  assert.equal(session.redirect_url, "https://shop.sessions-live.example/done");
  await core.db.run(sql`
    insert into redirect_uris (id, organization_id, verified_domain_id, pattern, created_at)
    values (${newUuid(now)}, ${partner.organizationId}, ${domain}, 'https://shop.sessions-live.example/verified', ${now})`);
  expectData(await create("https://shop.sessions-live.example/verified?x=1"), 201);
  expectError(
    await create("https://shop.sessions-live.example/done"),
    400,
    "INVALID_REQUEST",
    /`redirect_url` is not allowed/,
  );
});

test("a session can be bound to an enabled endpoint of the organization and to no other", async () => {
  const [partner, other] = [await createPartner(api), await createPartner(api)];
  const endpointOf = async (owner: { api: Api }) =>
    expectData(await owner.api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1/hook" }), 201)
      .endpoint.id as string;
  const [own, foreign] = [await endpointOf(partner), await endpointOf(other)];
  const session = expectData(await partner.api.post("/v1/sessions", { webhook_endpoint_id: own }), 201);
  assert.equal(session.webhook_endpoint_id, own);
  const refused = async (id: string) =>
    expectError(
      await partner.api.post("/v1/sessions", { webhook_endpoint_id: id }),
      400,
      "INVALID_REQUEST",
      /`webhook_endpoint_id` names no enabled/,
    );
  await refused(foreign);
  expectData(await partner.api.patch(`/v1/webhooks/endpoints/${own}`, { enabled: false }));
  await refused(own);
  assert.equal(
    expectData(await partner.api.get(`/v1/sessions/${session.id}`)).webhook_endpoint_id,
    own,
    "what a session was bound to stays",
  );
});

test("reading needs sessions:read, creating and cancelling sessions:write; neither implies the other", async () => {
  const partner = await createPartner(api);
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  const without = (scope: string) =>
    createKey(
      partner.owner,
      allScopes.filter((each) => each !== scope),
    );
  const writer = await without("sessions:read");
  const reader = await without("sessions:write");
  for (const path of ["/v1/sessions", `/v1/sessions/${session.id}`, "/v1/sessions/attempts/attempts"]) {
    expectError(await writer.api.get(path), 403, "FORBIDDEN", /sessions:read/);
    expectData(await reader.api.get(path));
  }
  expectError(await reader.api.post("/v1/sessions"), 403, "FORBIDDEN", /sessions:write/);
  expectError(await reader.api.post(`/v1/sessions/${session.id}/cancel`), 403, "FORBIDDEN", /sessions:write/);
  expectData(await writer.api.post("/v1/sessions"), 201);
  assert.equal((await writer.api.post(`/v1/sessions/${session.id}/cancel`)).status, 204);
});

test("another organization's session is as unknown as one that never was", async () => {
  const [one, other] = [await createPartner(api), await createPartner(api)];
  const session = expectData(await one.api.post("/v1/sessions"), 201);
  for (const id of [session.id, someId]) {
    expectError(await other.api.get(`/v1/sessions/${id}`), 404, "SESSION_NOT_FOUND");
    expectError(await other.api.post(`/v1/sessions/${id}/cancel`), 404, "SESSION_NOT_FOUND");
    expectError(
      await other.api.get("/v1/sessions", { starting_after: id }),
      400,
      "INVALID_REQUEST",
      /`starting_after`/,
    );
    assert.deepEqual(
      expectData(await other.api.get("/v1/sessions/attempts/attempts", { session_id: id })),
      [],
    );
  }
  for (const id of ["vs_1", "attempts", `vs_${"a".repeat(63)}-`, `va_${"a".repeat(64)}`]) {
    expectError(await one.api.get(`/v1/sessions/${id}`), 400, "INVALID_SESSION_ID");
    expectError(await one.api.post(`/v1/sessions/${id}/cancel`), 400, "INVALID_SESSION_ID");
  }
  assert.equal(expectData(await one.api.get(`/v1/sessions/${session.id}`)).status, "created");
});

test("cancelling answers 204, again 204, and leaves one event and one audit entry", async () => {
  const partner = await createPartner(api);
  const session = expectData(await partner.api.post("/v1/sessions", { client_reference_id: "r-1" }), 201);
  clock.advance(minuteMs);
  for (let i = 0; i < 3; i++)
    assert.equal((await partner.api.post(`/v1/sessions/${session.id}/cancel`)).status, 204);
  const read = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
  assert.equal(read.status, "cancelled");
  assert.equal(read.completed_at, clock.now().toISOString());
  assert.equal(read.updated_at, clock.now().toISOString());
  const events = await core.db.rows(
    sql`select type, client_reference_id, sandbox, contract_version from events where session_id = ${session.id}`,
  );
  assert.deepEqual(events, [
    {
      type: "verification.session.cancelled",
      clientReferenceId: "r-1",
      sandbox: true,
      contractVersion: 1,
    },
  ]);
  const audit = expectData(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.cancelled" }),
  );
  assert.equal(audit.length, 1);
  assert.deepEqual(audit[0].details, { reason: "cancelled_by_partner" });
  assert.equal(audit[0].actor_id, partner.key.id);
  assert.equal(audit[0].target_id, session.id);
});

test("creating a session is in the audit log", async () => {
  const partner = await createPartner(api);
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  const [entry] = expectData(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.created" }),
  );
  assert.equal(entry.target_id, session.id);
});

test("a list is newest first, pages by cursor, and stays put while sessions are added", async () => {
  const partner = await createPartner(api);
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    clock.advance(1);
    ids.unshift(expectData(await partner.api.post("/v1/sessions"), 201).id);
  }
  const first = await partner.api.get("/v1/sessions", { limit: 3 });
  assert.deepEqual(
    expectData(first).map((session: { id: string }) => session.id),
    ids.slice(0, 3),
  );
  assert.deepEqual(first.body.pagination, { limit: 3, has_more: true, next_cursor: ids[2] });
  clock.advance(1);
  expectData(await partner.api.post("/v1/sessions"), 201);
  const second = await partner.api.get("/v1/sessions", { limit: 3, starting_after: ids[2] });
  assert.deepEqual(
    expectData(second).map((session: { id: string }) => session.id),
    ids.slice(3, 6),
  );
  const last = await partner.api.get("/v1/sessions", { limit: 3, starting_after: ids[5] });
  assert.deepEqual(
    expectData(last).map((session: { id: string }) => session.id),
    ids.slice(6),
  );
  assert.deepEqual(last.body.pagination, { limit: 3, has_more: false, next_cursor: null });
});

test("a reference is kept as sent and compared byte for byte: é as one character is not é as two", async () => {
  const partner = await createPartner(api);
  const composed = "caf\u00e9";
  const decomposed = composed.normalize("NFD");
  for (const reference of [composed, decomposed])
    expectData(await partner.api.post("/v1/sessions", { client_reference_id: reference }), 201);
  for (const reference of [composed, decomposed]) {
    const found = expectData(await partner.api.get("/v1/sessions", { client_reference_id: reference }));
    assert.deepEqual(
      found.map((session: { client_reference_id: string }) => session.client_reference_id),
      [reference],
    );
  }
});

test("list parameters that make no sense are refused, with pagination in the answer", async () => {
  const partner = await createPartner(api);
  for (const [query, message] of [
    [{ limit: 0 }, /`limit` must be at least 1/],
    [{ limit: 101 }, /`limit` must be at most 100/],
    [{ limit: "ten" }, /`limit`/],
    [{ status: "closed" }, /`status` must be one of: created/],
    [{ status: "suceeded" }, /`status` must be one of: .*\. Did you mean `succeeded`\?$/],
    [{ starting_after: "vs_1" }, /`starting_after`/],
    [{ created_from: "yesterday" }, /`created_from`/],
    [{ created_to: "2026-13-01T00:00:00Z" }, /`created_to`/],
    [{ page: 2 }, /`page` is not a parameter/],
  ] as const) {
    const answer = await partner.api.get("/v1/sessions", query as Record<string, string>);
    expectError(answer, 400, "BAD_REQUEST", message);
    assert.deepEqual(answer.body.pagination, { limit: 10, has_more: false, next_cursor: null });
  }
  expectError(
    await partner.api.get("/v1/sessions?limit=1&limit=2"),
    400,
    "BAD_REQUEST",
    /^`limit` is given more than once\.$/,
  );
  expectError(
    await partner.api.get("/v1/sessions?page=1&page=2"),
    400,
    "BAD_REQUEST",
    /^`page` is not a parameter/,
  );
  const turned = { created_from: "2026-03-02T00:00:00Z", created_to: "2026-03-01T23:59:59.999Z" };
  for (const list of ["/v1/sessions", "/v1/webhooks/deliveries", "/v1/webhooks/events"])
    expectError(
      await partner.api.get(list, turned),
      400,
      "PERIOD_INVALID",
      /`created_from` must not be later than `created_to`/,
    );
  const attempts = "/v1/sessions/attempts/attempts";
  expectError(await partner.api.get(attempts, { session_id: "vs_1" }), 400, "BAD_REQUEST", /`session_id`/);
  expectError(await partner.api.get(attempts, { status: "created" }), 400, "BAD_REQUEST", /`status`/);
  expectError(
    await partner.api.get(attempts, { starting_after: `va_${"a".repeat(64)}` }),
    400,
    "INVALID_REQUEST",
    /`starting_after`/,
  );
});

test("bounds on the creation time are inclusive to the millisecond, at any distance", async () => {
  const partner = await createPartner(api);
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  const at = clock.now().getTime();
  const found = async (query: Record<string, string>) =>
    expectData(await partner.api.get("/v1/sessions", query)).length;
  const iso = (time: number) => new Date(time).toISOString();
  assert.equal(await found({ created_from: iso(at), created_to: iso(at) }), 1);
  assert.equal(await found({ created_from: iso(at + 1) }), 0);
  assert.equal(await found({ created_to: iso(at - 1) }), 0);
  assert.equal(await found({ created_from: "1950-01-01T00:00:00Z", created_to: "9999-12-31T23:59:59Z" }), 1);
  assert.equal(await found({ created_from: "9999-12-31T23:59:59Z" }), 0);
  assert.equal(await found({ created_to: "1950-01-01T00:00:00Z" }), 0);
  assert.equal(await found({ created_from: "2026-03-01T09:00:00+02:00" }), 1);
  assert.ok(session.id.startsWith(idFloor("vs", new Date(at))));
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { environmentHeader } from "@assay/contract/facts";
import { loadConfig } from "../../../src/load-config.ts";
import { hourMs } from "../../../src/platform/kernel/clock.ts";
import { loadRpTerms } from "../../../src/tenants/organizations/rp-terms.ts";
import { Api, createKey, createPartner, expectData, expectError, signUpOwner } from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { createReceivingEndpoint, registration } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, fail, succeed } from "../../support/sessions.ts";
import { claimedSession, TestDevice, testDocument, trustTestCountry } from "../../support/verify-device.ts";

const dns = await startDnsServer();
const service = await startTestService({
  env: { DNS_RESOLVERS: dns.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const { api, core } = service;
/** No server listens there; the list of deliveries shows what would be sent. */
const hookUrl = "https://127.0.0.1:9/hook";

const details = {
  business_name: "Acme Bank",
  business_jurisdiction: "Austria",
  business_registration_number: "FN 1",
};

async function acceptTerms(owner: { api: Api }) {
  const { current } = expectData(await owner.api.get("/v1/auth/orgs/rp-terms"));
  return owner.api.post("/v1/auth/orgs/rp-terms", {
    terms_version: current.terms_version,
    terms_hash: current.terms_hash,
  });
}

test("business details: omitted keeps, null and blank clear, bounds name the field", async () => {
  const owner = await signUpOwner(api);
  const post = (body: unknown) => owner.api.post("/v1/auth/orgs/business-details", body);
  const empty = {
    businessType: "sole",
    businessName: null,
    businessJurisdiction: null,
    businessRegistrationNumber: null,
  };
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs/business-details")), empty);
  const full = {
    businessType: "business",
    businessName: "Acme Bank",
    businessJurisdiction: "Austria",
    businessRegistrationNumber: "FN 1",
  };
  assert.deepEqual(
    expectData(await post({ ...details, business_name: "  Acme Bank ", business_type: "business" })),
    full,
  );
  assert.deepEqual(expectData(await post({})), full);
  assert.deepEqual(expectData(await post({ business_name: null, business_jurisdiction: " " })), {
    ...full,
    businessName: null,
    businessJurisdiction: null,
  });
  assert.equal(expectData(await post({ business_type: null })).businessType, "sole");
  expectError(await post({ business_name: "x".repeat(201) }), 400, "BAD_REQUEST", /`business_name`/);
  expectError(
    await post({ business_jurisdiction: "x".repeat(121) }),
    400,
    "BAD_REQUEST",
    /`business_jurisdiction`/,
  );
  expectError(
    await post({ business_registration_number: "x".repeat(101) }),
    400,
    "BAD_REQUEST",
    /`business_registration_number`/,
  );
  expectError(await post({ business_name: "a\u0007b" }), 400, "BAD_REQUEST", /`business_name`/);
  expectError(await post({ business_type: "club" }), 400, "BAD_REQUEST", /`business_type`/);
  expectError(await post({ businessName: "x" }), 400, "BAD_REQUEST", /`businessName` is not a field/);
});

test("the terms are served with their fingerprint, and exactly what was shown is accepted", async () => {
  const owner = await signUpOwner(api);
  const shown = expectData(await api.get("/v1/auth/orgs/rp-terms/text"));
  assert.equal(shown.terms_hash, `sha256:${createHash("sha256").update(shown.text).digest("hex")}`);
  const before = expectData(await owner.api.get("/v1/auth/orgs/rp-terms"));
  assert.equal(before.acceptance, null);
  assert.equal(before.current_accepted, false);
  assert.deepEqual(before.current, {
    jurisdiction: shown.jurisdiction,
    terms_hash: shown.terms_hash,
    terms_version: shown.terms_version,
  });
  const accept = (version: string, hash: string) =>
    owner.api.post("/v1/auth/orgs/rp-terms", { terms_version: version, terms_hash: hash });
  expectError(await accept("1999-01-01", shown.terms_hash), 409, "CONFLICT");
  expectError(await accept(shown.terms_version, `sha256:${"0".repeat(64)}`), 409, "CONFLICT");
  expectError(await accept(shown.terms_version, "nonsense"), 400, "BAD_REQUEST", /`terms_hash`/);
  const after = expectData(await accept(shown.terms_version, shown.terms_hash));
  assert.equal(after.current_accepted, true);
  assert.equal(after.acceptance.accepted_by, owner.userId);
  service.clock.advance(1000);
  assert.deepEqual(expectData(await accept(shown.terms_version, shown.terms_hash)), after);
});

test("a new text must be accepted again", async () => {
  const owner = await signUpOwner(api);
  expectData(await acceptTerms(owner));
  const file = join(mkdtempSync(join(tmpdir(), "assay-terms-")), "terms.txt");
  writeFileSync(file, "New terms.\r\n");
  const other = await startTestService({
    databaseUrl: service.databaseUrl,
    clock: service.clock,
    env: { RP_TERMS_FILE: file, RP_TERMS_VERSION: "2027-01-01", RP_TERMS_JURISDICTION: "Austria" },
  });
  const there = new Api(other.url).as(owner.token);
  const status = expectData(await there.get("/v1/auth/orgs/rp-terms"));
  assert.equal(status.current_accepted, false);
  assert.equal(status.current.jurisdiction, "Austria");
  assert.equal(
    status.current.terms_hash,
    `sha256:${createHash("sha256").update("New terms.\r\n").digest("hex")}`,
  );
  assert.equal(status.acceptance.jurisdiction, "European Union");
  expectError(await acceptTermsOf(there, await currentTerms(owner.api)), 409, "CONFLICT");
  assert.equal(expectData(await acceptTermsOf(there, status.current)).current_accepted, true);
});

type Terms = { terms_version: string; terms_hash: string };
const currentTerms = async (caller: Api): Promise<Terms> =>
  expectData(await caller.get("/v1/auth/orgs/rp-terms")).current;
const acceptTermsOf = (caller: Api, terms: Terms) =>
  caller.post("/v1/auth/orgs/rp-terms", { terms_version: terms.terms_version, terms_hash: terms.terms_hash });

test("a text of the operator's needs a version, and must be readable", () => {
  const env = { RP_TERMS_FILE: "/nowhere/terms.txt" };
  assert.throws(() => loadConfig(env), /RP_TERMS_VERSION must be set together/);
  assert.throws(() => loadConfig({ RP_TERMS_VERSION: "new" }), /RP_TERMS_VERSION must begin with a date/);
  assert.throws(() => loadRpTerms(loadConfig({ ...env, RP_TERMS_VERSION: "2027-01-01" })), /RP_TERMS_FILE/);
});

test("going live needs terms, details, a domain, a trusted authority and an endpoint for results, names what is missing, and happens once", async () => {
  const owner = await signUpOwner(api);
  const goLive = () => owner.api.post("/v1/auth/orgs/go-live");
  const missing = async () => {
    const answer = await goLive();
    expectError(answer, 409, "ORGANIZATION_NOT_READY");
    return answer.body.error?.hint ?? "";
  };
  assert.match(await missing(), /terms.*business details.*domain/);
  expectData(await acceptTerms(owner));
  const afterTerms = await missing();
  assert.doesNotMatch(afterTerms, /terms/);
  expectData(
    await owner.api.post("/v1/auth/orgs/business-details", {
      ...details,
      business_type: "business",
      business_registration_number: null,
    }),
  );
  assert.match(await missing(), /business details/);
  expectData(await owner.api.post("/v1/auth/orgs/business-details", details));
  assert.match(
    await missing(),
    /^Missing: verify a domain .*; the operator trusts no issuing authority yet; add a live webhook endpoint/,
  );
  await verifyDomain(owner, dns, "go-live.example");
  await createReceivingEndpoint(owner.api.in("live"), hookUrl);
  assert.equal(await missing(), "Missing: the operator trusts no issuing authority yet.");
  const operatorReady = async () =>
    expectData(await owner.api.get("/v1/auth/orgs/rp-terms")).operator_ready as boolean;
  assert.equal(await operatorReady(), false);
  await trustTestCountry(service);
  assert.equal(await operatorReady(), true);
  const keysBefore = expectData(await owner.api.get("/v1/auth/api-keys"));
  assert.equal(expectData(await goLive()).environment, "live");
  expectError(await goLive(), 409, "LIVE_IS_OPEN");
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/api-keys")), keysBefore);

  // In live people are sent to proven domains only, and where patterns are registered, to those.
  const session = (redirectUrl: string) =>
    owner.api.in("live").post("/v1/sessions", { redirect_url: redirectUrl });
  assert.equal(expectData(await session("https://www.go-live.example/done"), 201).sandbox, false);
  expectError(await session("https://elsewhere.example/done"), 400, "INVALID_REQUEST", /verified domain/);
  expectData(
    await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: "https://www.go-live.example/cb" }),
    201,
  );
  expectError(await session("https://www.go-live.example/done"), 400, "INVALID_REQUEST", /matches none/);
  expectData(await session("https://www.go-live.example/cb?state=1"), 201);
  const [listed] = expectData<{ environment: string }[]>(await owner.api.get("/v1/auth/orgs"));
  assert.equal(listed?.environment, "live");
  // None of this applies in the sandbox.
  const test = await owner.api.post("/v1/sessions", { redirect_url: "http://localhost:3000/anywhere" });
  assert.equal(expectData(test, 201).sandbox, true);
});

test("the list before going live says what is done and why each point matters, and a missing reading device only warns", async () => {
  const owner = await signUpOwner(api);
  type Readiness = {
    environment: string;
    ready: boolean;
    points: {
      point: string;
      done: boolean;
      required: boolean;
      instead: string | null;
      explanation: string;
      docs: string;
    }[];
  };
  const readiness = async (): Promise<Readiness> => expectData(await owner.api.get("/v1/auth/orgs/go-live"));
  const openPoints = ({ points }: Readiness) =>
    points.filter(({ done }) => !done).map(({ point, required }) => (required ? point : `${point}?`));
  await trustTestCountry(service);
  const before = await readiness();
  assert.deepEqual([before.environment, before.ready], ["sandbox", false]);
  assert.deepEqual(openPoints(before), [
    "terms_accepted",
    "business_details_complete",
    "domain_verified",
    "results_received",
  ]);
  assert.deepEqual(
    before.points.filter(({ instead }) => instead !== null).map(({ point, instead }) => [point, instead]),
    [["results_received", "poll_only"]],
  );
  for (const { explanation, docs } of before.points) {
    assert.ok(explanation.length > 40);
    assert.equal((await fetch(docs)).status, 200, docs);
    const [, section = ""] = docs.split("#");
    assert.match(await (await fetch(docs)).text(), new RegExp(`id="${section}"`), docs);
  }
  expectData(await acceptTerms(owner));
  expectData(await owner.api.post("/v1/auth/orgs/business-details", details));
  await verifyDomain(owner, dns, "readiness.example");
  await createReceivingEndpoint(owner.api.in("live"), hookUrl);
  const ready = await readiness();
  assert.deepEqual([ready.ready, openPoints(ready)], [true, []]);
  expectData(await owner.api.post("/v1/auth/orgs/go-live"));
  assert.equal((await readiness()).environment, "live");

  const openPointsWith = async (env: Record<string, string>) => {
    const other = await startTestService({
      role: "api",
      databaseUrl: service.databaseUrl,
      clock: service.clock,
      env: { DESK_READERS: "false", ...env },
    });
    return openPoints(expectData(await new Api(other.url).as(owner.token).get("/v1/auth/orgs/go-live")));
  };
  assert.deepEqual(await openPointsWith({}), ["reading_app_configured?"]);
  assert.deepEqual(await openPointsWith({ READER_APP_IOS: iphoneApp }), []);
});

const iphoneApp = "app=ABCDE12345.example.reader,install=https://apps.example/reader";

/** Everything that going live needs, except an endpoint. */
async function almostReady(domain: string) {
  const owner = await signUpOwner(api);
  await trustTestCountry(service);
  expectData(await acceptTerms(owner));
  expectData(await owner.api.post("/v1/auth/orgs/business-details", details));
  await verifyDomain(owner, dns, domain);
  return owner;
}

test("only an enabled live endpoint with an active key that is subscribed to successes counts for going live", async () => {
  const owner = await almostReady("results.example");
  const live = owner.api.in("live");
  const isReady = async () => expectData(await owner.api.get("/v1/auth/orgs/go-live")).ready as boolean;
  await createReceivingEndpoint(owner.api, hookUrl);
  assert.equal(await isReady(), false, "an endpoint of the sandbox");
  const { endpoint } = expectData(await live.post("/v1/webhooks/endpoints", { url: hookUrl }), 201);
  assert.equal(await isReady(), false, "no key");
  const key = expectData(
    await live.post(`/v1/webhooks/endpoints/${endpoint.id}/keys`, registration("key-1")),
    201,
  );
  assert.equal(await isReady(), true);
  expectData(await live.post(`/v1/webhooks/keys/${key.id}/deactivate`));
  assert.equal(await isReady(), false, "the key is not active");
  expectData(await live.post(`/v1/webhooks/keys/${key.id}/reactivate`));
  const set = async (change: Record<string, unknown>) =>
    expectData(await live.patch(`/v1/webhooks/endpoints/${endpoint.id}`, change));
  await set({ enabled: false });
  assert.equal(await isReady(), false, "disabled");
  await set({ enabled: true, subscribed_event_types: ["verification.session.failed"] });
  assert.equal(await isReady(), false, "not subscribed");
  const refused = await owner.api.post("/v1/auth/orgs/go-live", {});
  expectError(refused, 409, "ORGANIZATION_NOT_READY");
  assert.match(refused.body.error?.hint ?? "", /results: "poll_only"/);
  await set({ subscribed_event_types: ["verification.session.succeeded"] });
  assert.equal(expectData(await owner.api.post("/v1/auth/orgs/go-live")).environment, "live");
});

test("an organization that polls says so and goes live without an endpoint", async () => {
  const owner = await almostReady("polling.example");
  expectError(
    await owner.api.post("/v1/auth/orgs/go-live", { results: "webhooks" }),
    400,
    "BAD_REQUEST",
    /`results`/,
  );
  const live = expectData(await owner.api.post("/v1/auth/orgs/go-live", { results: "poll_only" }));
  assert.equal(live.environment, "live");
  const entries = expectData<{ event: string; details: Record<string, unknown> }[]>(
    await owner.api.get("/v1/auth/orgs/audit-logs"),
  );
  assert.deepEqual(entries.find(({ event }) => event === "organization.went_live")?.details, {
    results: "poll_only",
  });
});

test("before live is open users set up its endpoints and their keys, and nothing else of it", async () => {
  const partner = await createPartner(api);
  const { owner } = partner;
  const live = owner.api.in("live");
  const hook = await createReceivingEndpoint(live, hookUrl);
  const path = `/v1/webhooks/endpoints/${hook.id}`;
  assert.equal(expectData(await live.get(path)).environment, "live");
  assert.equal(expectData<unknown[]>(await live.get("/v1/webhooks/endpoints")).length, 1);
  assert.equal(expectData<unknown[]>(await live.get(`${path}/keys`)).length, 1);
  assert.equal(expectData<unknown[]>(await owner.api.get("/v1/webhooks/endpoints")).length, 0);
  for (const answer of [
    await live.post(`${path}/test`),
    await live.post(`${path}/signing-secret/reveal`),
    await live.post(`${path}/signing-secret/rotate`),
    await live.get("/v1/webhooks/deliveries"),
    await live.get("/v1/webhooks/events"),
  ])
    expectError(answer, 409, "ORGANIZATION_NOT_READY");
  expectError(await partner.api.in("live").get("/v1/webhooks/endpoints"), 400, "BAD_REQUEST");
  assert.equal((await live.delete(path)).status, 204);
});

test("while neither a reader app nor a desk is configured, a live session is refused with what to configure, and the sandbox works", async () => {
  const partner = await createPartner(api);
  await openLive(core, partner.organizationId);
  const statusWith = async (env: Record<string, string>) => {
    const other = await startTestService({
      role: "api",
      databaseUrl: service.databaseUrl,
      clock: service.clock,
      env: { DESK_READERS: "false", ...env },
    });
    const there = new Api(other.url).as(partner.owner.token);
    expectData(await there.post("/v1/sessions"), 201);
    return there.in("live").post("/v1/sessions");
  };
  const refused = await statusWith({});
  expectError(refused, 409, "NO_READER_AVAILABLE");
  assert.match(refused.body.error?.hint ?? "", /READER_APP_ANDROID.*READER_APP_IOS.*DESK_READERS=true/);
  expectData(await statusWith({ DESK_READERS: "true" }), 201);
  expectData(await statusWith({ READER_APP_IOS: iphoneApp }), 201);
});

test("live is refused until it is open, to users and for keys, and the header says one of two words", async () => {
  const partner = await createPartner(api);
  const { owner } = partner;
  const live = owner.api.in("live");
  const key = { name: "live", scopes: [], environment: "live" };
  for (const answer of [
    await live.get("/v1/sessions"),
    await live.post("/v1/sessions"),
    await live.get("/v1/auth/api-keys"),
    await live.get("/v1/webhooks/deliveries"),
    await live.get("/v1/analytics/sessions/overview"),
    await owner.api.post("/v1/auth/api-keys", key),
    await live.post("/v1/auth/api-keys", { ...key, environment: undefined }),
  ]) {
    expectError(answer, 409, "ORGANIZATION_NOT_READY");
    assert.match(answer.body.error?.hint ?? "", /POST \/v1\/auth\/orgs\/go-live/);
  }
  // What the environments share exists with any header.
  expectData(await live.get("/v1/auth/orgs/members"));
  for (const asked of ["", "Live", "production", "sandbox, live"]) {
    const headers = { [environmentHeader]: asked };
    const answer = await owner.api.call("GET", "/v1/sessions", { headers });
    expectError(answer, 400, "BAD_REQUEST", /`X-Service-Environment`/);
    assert.equal(answer.body.pagination?.limit, 10);
    expectError(await partner.api.call("GET", "/v1/sessions", { headers }), 400, "BAD_REQUEST");
  }
  expectData(await partner.api.in("sandbox").get("/v1/sessions"));
  expectError(await partner.api.in("live").get("/v1/sessions"), 400, "BAD_REQUEST", /belongs to sandbox/);
  // A caller without the right gets that refusal first.
  expectError(await api.in("live").get("/v1/sessions"), 401, "UNAUTHORIZED");
  const scopeless = await createKey(owner, []);
  expectError(await scopeless.api.in("live").get("/v1/sessions"), 403, "FORBIDDEN");

  await openLive(core, partner.organizationId);
  expectData(await live.get("/v1/sessions"));
  assert.equal(expectData(await owner.api.post("/v1/auth/api-keys", key), 201).environment, "live");
  const byHeader = await live.post("/v1/auth/api-keys", { name: "live too", scopes: [] });
  assert.equal(expectData(byHeader, 201).environment, "live");
  assert.equal((await createKey(owner)).id.length, 36);
  const namesIn = async (caller: Api) =>
    expectData<{ environment: string }[]>(await caller.get("/v1/auth/api-keys")).map(
      (each) => each.environment,
    );
  assert.deepEqual(await namesIn(live), ["live", "live"]);
  assert.deepEqual([...new Set(await namesIn(owner.api))], ["sandbox"]);
});

test("the same Idempotency-Key in the other environment is another request", async () => {
  const partner = await createPartner(api);
  await openLive(core, partner.organizationId);
  const live = await withLiveKey(partner);
  const headers = { "idempotency-key": "order-1" };
  const ids = [];
  for (const caller of [partner.api, live.api, partner.api, live.api, partner.owner.api.in("live")])
    ids.push(expectData(await caller.post("/v1/sessions", {}, headers), 201).id as string);
  const [inSandbox, inLive] = ids;
  assert.notEqual(inSandbox, inLive);
  assert.deepEqual(ids.slice(2), [inSandbox, inLive, inLive]);
});

test("an event goes to endpoints of its session's environment and to no other, bound or not, however the session ends", async () => {
  const partner = await createPartner(api);
  await openLive(core, partner.organizationId);
  const live = await withLiveKey(partner);
  const tenants = [
    { caller: partner.api, other: live.api, sandbox: true },
    { caller: live.api, other: partner.api, sandbox: false },
  ].map(async (tenant) => ({ ...tenant, hook: await createReceivingEndpoint(tenant.caller, hookUrl) }));
  const ends: Record<string, (id: string, caller: Api) => Promise<unknown>> = {
    cancelled: (id, caller) => caller.post(`/v1/sessions/${id}/cancel`),
    succeeded: async (id) => succeed(core, id, await claimed(core, id)),
    failed: async (id) => fail(core, id, await claimed(core, id)),
    expired: () => Promise.resolve(),
  };
  const ended: { id: string; caller: Api; other: Api; hookId: string; sandbox: boolean; attempts: number }[] =
    [];
  for (const { caller, other, hook, sandbox } of await Promise.all(tenants)) {
    for (const [how, end] of Object.entries(ends)) {
      for (const bound of [{}, { webhook_endpoint_id: hook.id }]) {
        const { id } = expectData(await caller.post("/v1/sessions", bound), 201);
        await end(id, caller);
        const attempts = how === "succeeded" || how === "failed" ? 1 : 0;
        ended.push({ id, caller, other, hookId: hook.id, sandbox, attempts });
      }
    }
    const tested = expectData(await caller.post(`/v1/webhooks/endpoints/${hook.id}/test`), 202);
    assert.equal(tested.event.sandbox, sandbox);
    expectError(await other.post(`/v1/webhooks/endpoints/${hook.id}/test`), 404, "NOT_FOUND");
    expectError(
      await other.post("/v1/sessions", { webhook_endpoint_id: hook.id }),
      400,
      "INVALID_REQUEST",
      /`webhook_endpoint_id`/,
    );
  }
  service.clock.advance(2 * hourMs);
  await service.runJob("expire-sessions");
  for (const { id, caller, other, hookId, sandbox, attempts } of ended) {
    const [event, ...more] = expectData(await caller.get("/v1/webhooks/events", { session_id: id }));
    assert.deepEqual([event.sandbox, more], [sandbox, []]);
    const query = { event_id: event.id };
    const sentTo = expectData<{ webhook_endpoint_id: string }[]>(
      await caller.get("/v1/webhooks/deliveries", query),
    ).map((delivery) => delivery.webhook_endpoint_id);
    assert.deepEqual(sentTo, [hookId]);
    assert.deepEqual(expectData(await other.get("/v1/webhooks/events", { session_id: id })), []);
    assert.deepEqual(expectData(await other.get("/v1/webhooks/deliveries", query)), []);
    expectError(await other.post(`/v1/webhooks/events/${event.id}/replay`), 404, "NOT_FOUND");
    expectError(await other.get(`/v1/sessions/${id}`), 404, "SESSION_NOT_FOUND");
    expectError(await other.get("/v1/sessions", { starting_after: id }), 400, "INVALID_REQUEST");
    const attemptsIn = async (each: Api) =>
      expectData<unknown[]>(await each.get("/v1/sessions/attempts/attempts", { session_id: id })).length;
    assert.deepEqual([await attemptsIn(caller), await attemptsIn(other)], [attempts, 0]);
    expectError(await other.post(`/v1/sessions/${id}/cancel`), 404, "SESSION_NOT_FOUND");
  }
});

test("a session of the sandbox is finished with a test document also when live is open", async () => {
  const partner = await createPartner(api);
  const { sessionId, socketToken } = await claimedSession(partner.api);
  await openLive(core, partner.organizationId);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  await device.expect("welcome");
  const result = await device.passChip(testDocument("passport-valid", service.clock.now()));
  device.connection.close();
  assert.ok(result.type === "step_result" && result.passed, JSON.stringify(result));
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${sessionId}`)).sandbox, true);
});

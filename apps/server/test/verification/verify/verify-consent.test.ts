import assert from "node:assert/strict";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { setPendingDeletion } from "../../../src/tenants/organizations/deletion.store.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { createLivePartner } from "../../support/live.ts";
import { openReceipt } from "../../support/open-receipt.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, fail, succeed } from "../../support/sessions.ts";
import {
  agree,
  handOff,
  requiredKeys,
  shareFields,
  startVerification,
  takeSession,
  termsVersion,
} from "../../support/verify.ts";

const dns = await startDnsServer();
const service = await startTestService({ role: "api", env: { DNS_RESOLVERS: dns.address } });
const { api, clock, core } = service;
const partner = await createPartner(api);
const unknownPath = `/v1/verify/session/vs_${"0".repeat(64)}`;

const detailsOf = async (path: string) => expectData(await api.get(`${path}/details`));

test("malformed ids, unknown ids and plain HTTP are distinguished on every route", async () => {
  const consent = { selected_field_keys: [], terms_version: "x" };
  const claim = { handoff_token: "x", device_id: "x" };
  const calls = (path: string) =>
    [
      () => api.get(`${path}/details`),
      () => api.get(`${path}/logo`),
      () => api.get(`${path}/status`),
      () => api.get(`${path}/events`),
      () => api.get(`${path}/consent-receipt`),
      () => api.post(`${path}/consent`, consent),
      () => api.post(`${path}/handoff`),
      () => api.post(`${path}/claim`, claim),
      () => api.post(`${path}/decline`),
      () => api.post(`${path}/cancel`, { cancel_token: "x" }),
    ] as const;
  for (const id of ["vs_short", `va_${"0".repeat(64)}`, `vs_${"0".repeat(63)}-`]) {
    for (const call of calls(`/v1/verify/session/${id}`))
      expectError(await call(), 400, "INVALID_SESSION_ID");
    expectError(await api.get(`/v1/verify/session/${id}`), 400, "INVALID_SESSION_ID");
  }
  for (const call of calls(unknownPath)) expectError(await call(), 404, "SESSION_NOT_FOUND");
  const plain = await api.get(unknownPath);
  expectError(plain, 426, "WEBSOCKET_REQUIRED");
  assert.equal(plain.headers.get("upgrade"), "websocket");
});

test("the details say who asks for what and why, and warn of an organization that has proven nothing", async () => {
  const { path, id } = await startVerification(partner.api, {
    share_fields: shareFields,
    redirect_url: "https://shop.example.com/done",
  });
  expectData(
    await partner.owner.api.patch("/v1/auth/orgs", {
      logo_url: "https://shop.example.com/logo.png",
      website_url: "https://shop.example.com/",
      support_email: "help@shop.example.com",
      privacy_url: "https://shop.example.com/privacy",
      terms_url: "https://shop.example.com/terms",
    }),
  );
  const details = await detailsOf(path);
  assert.equal(details.id, id);
  assert.deepEqual(Object.keys(details.share_fields), [...Object.keys(shareFields), "service_document_id"]);
  assert.deepEqual(details.share_fields.date_of_birth, {
    required: true,
    reason: "We must know that you are of age.",
    source: "rc",
  });
  assert.equal(details.sandbox, true);
  assert.deepEqual(details.tries, {
    nfc_tries_used: 0,
    nfc_tries_left: 3,
    liveness_tries_used: 0,
    liveness_tries_left: 3,
  });
  assert.deepEqual([details.consent, details.return_url], [null, null]);
  assert.equal(details.redirect_url, "https://shop.example.com/done");
  const { name: _, ...unverified } = details.organization;
  assert.deepEqual(unverified, {
    verified: false,
    domain: null,
    domain_unicode: null,
    logo_url: null,
    brand_color: null,
    website_url: null,
    business: null,
    support_email: "help@shop.example.com",
    privacy_url: "https://shop.example.com/privacy",
    terms_url: "https://shop.example.com/terms",
  });
});

test("an active verified domain brings out logo and business details; losing it takes them back", async () => {
  const other = await createPartner(api);
  expectData(
    await other.owner.api.patch("/v1/auth/orgs", { logo_url: "https://xn--mller-kva.example/logo.png" }),
  );
  expectData(
    await other.owner.api.post("/v1/auth/orgs/business-details", {
      business_name: "Müller GmbH",
      business_jurisdiction: "Austria",
      business_registration_number: "FN 1",
    }),
  );
  await verifyDomain(other.owner, dns, "first.example");
  const domainId = await verifyDomain(other.owner, dns, "xn--mller-kva.example");
  const { path } = await startVerification(other.api, { redirect_url: "https://www.xn--mller-kva.example/" });
  const { organization } = await detailsOf(path);
  assert.equal(organization.verified, true);
  assert.deepEqual(
    [organization.domain, organization.domain_unicode],
    ["xn--mller-kva.example", "müller.example"],
  );
  assert.equal(organization.logo_url, "https://xn--mller-kva.example/logo.png");
  assert.deepEqual(organization.business, {
    name: "Müller GmbH",
    jurisdiction: "Austria",
    registration_number: "FN 1",
  });
  await core.db.run(sql`update verified_domains set downgraded_at = ${clock.now()} where id = ${domainId}`);
  assert.equal((await detailsOf(path)).organization.domain, "first.example");
  await core.db.run(
    sql`update verified_domains set downgraded_at = ${clock.now()} where organization_id = ${other.organizationId}`,
  );
  const lost = (await detailsOf(path)).organization;
  assert.deepEqual([lost.verified, lost.logo_url, lost.business], [false, null, null]);
});

test("a required field cannot be left out, an unasked one cannot be added, and texts must be current", async () => {
  const { path } = await startVerification(partner.api);
  const consent = (keys: unknown, version: unknown = termsVersion, more = {}) =>
    api.post(`${path}/consent`, { selected_field_keys: keys, terms_version: version, ...more });
  expectError(
    await consent(["service_document_id"]),
    400,
    "REQUIRED_FIELD_DECLINED",
    /`date_of_birth`.*required/,
  );
  expectError(await consent(["date_of_birth"]), 400, "REQUIRED_FIELD_DECLINED", /`service_document_id`/);
  expectError(await consent([...requiredKeys, "family_name"]), 400, "FIELD_NOT_ASKED", /`family_name`/);
  expectError(await consent([...requiredKeys, "__proto__"]), 400, "FIELD_NOT_ASKED", /__proto__/);
  expectError(await consent([...requiredKeys, "constructor"]), 400, "FIELD_NOT_ASKED", /constructor/);
  expectError(await consent(requiredKeys, "1999-01-01"), 409, "CONSENT_TEXTS_CHANGED", /`terms_version`/);
  expectError(await consent(requiredKeys, termsVersion, { language: "xx" }), 400, "BAD_REQUEST", /language/);
  expectError(await consent("all"), 400, "BAD_REQUEST", /selected_field_keys/);
  assert.equal((await detailsOf(path)).consent, null);
  const given = expectData(
    await consent(["service_document_id", "date_of_birth", "date_of_birth"], termsVersion, {
      language: "de",
    }),
    201,
  );
  assert.deepEqual(given.consent.selected_field_keys, requiredKeys, "in the order asked, once each");
  assert.deepEqual((await detailsOf(path)).consent, given.consent);
});

test("the receipt says what was asked and agreed, verifies with the published key, and names no person", async () => {
  const { id, path, cancelToken } = await startVerification(partner.api);
  const { cancel_token: token, receipt } = await agree(api, id);
  const { keys } = expectData(await api.get("/v1/verify/consent-receipt-keys"));
  const texts = expectData(await api.get("/v1/verify/consent-texts"));
  assert.deepEqual(Object.keys(texts.texts), [...pageLanguages]);
  const verified = openReceipt(receipt, keys[0]);
  assert.deepEqual(verified.header, { alg: "EdDSA", kid: keys[0].kid, typ: "consent-receipt+jwt" });
  const { jti, ...said } = verified.payload;
  assert.match(jti, /^[0-9a-f-]{36}$/);
  const { organization } = await detailsOf(path);
  assert.deepEqual(said, {
    iss: service.url,
    iat: Math.floor(clock.now().getTime() / 1000),
    session_id: id,
    sandbox: true,
    organization: { id: partner.organizationId, name: organization.name, verified_domain: null },
    asked: (await detailsOf(path)).share_fields,
    agreed: requiredKeys,
    declined: ["nationality_code"],
    terms: { version: texts.version, hash: texts.hash, language: null },
    given_at: clock.now().toISOString(),
  });
  const forged = receipt.replace(/\.[\w-]+\./, `.${Buffer.from("{}").toString("base64url")}.`);
  assert.throws(() => openReceipt(forged, keys[0]), /signature/);

  const download = (bearer?: string) =>
    bearer === undefined ? api.get(`${path}/consent-receipt`) : api.as(bearer).get(`${path}/consent-receipt`);
  for (const bearer of [token, cancelToken])
    assert.equal(expectData(await download(bearer)).receipt, receipt);
  expectError(await download(), 401, "CANCEL_TOKEN_INVALID");
  expectError(await download("guess"), 401, "CANCEL_TOKEN_INVALID");
  expectError(await download(partner.key.secret), 401, "CANCEL_TOKEN_INVALID");
  const other = await startVerification(partner.api);
  expectError(await api.as(token).get(`${other.path}/consent-receipt`), 401, "CANCEL_TOKEN_INVALID");
  expectError(await api.as(other.cancelToken).get(`${other.path}/consent-receipt`), 409, "CONSENT_REQUIRED");
});

test("where a wallet can answer, the person agrees to the text about wallets, and the receipt says so", async () => {
  const asked = { age_over_18: { required: true, reason: "We may only serve adults." } };
  const { id, path } = await startVerification(partner.api, {
    methods: ["wallet_pid", "document_chip"],
    share_fields: asked,
  });
  const { terms } = await detailsOf(path);
  assert.equal(terms.text, "wallet_paragraphs");
  const { texts, version, hash } = expectData(await api.get("/v1/verify/consent-texts"));
  for (const language of pageLanguages) {
    const { paragraphs, wallet_paragraphs: ofWallet } = texts[language];
    assert.equal(ofWallet.length, paragraphs.length);
    assert.notEqual(ofWallet[0], paragraphs[0], language);
    assert.notEqual(ofWallet[2], paragraphs[2], language);
  }
  assert.match(texts.en.wallet_paragraphs[2], /your date of birth.* looked at but not shared/s);
  const { keys } = expectData(await api.get("/v1/verify/consent-receipt-keys"));
  const { receipt } = await agree(api, id, ["age_over_18", "service_document_id"]);
  const { payload } = openReceipt(receipt, keys[0]);
  assert.deepEqual(payload.terms, { version, hash, language: null, text: "wallet_paragraphs" });
  const page = await (await fetch(`${service.url}/verify/${id}`)).text();
  assert.ok(page.includes("what your wallet presents is checked"), "it comes with the page");
  const other = await startVerification(partner.api);
  assert.equal((await detailsOf(other.path)).terms.text, "paragraphs");
  const pageOfOther = await (await fetch(`${service.url}/verify/${other.id}`)).text();
  assert.ok(!pageOfOther.includes("what your wallet presents is checked"), "and weighs nothing elsewhere");
});

test("agreeing again replaces the choice and voids what was made under it; a claim fixes it", async () => {
  const { id, path } = await startVerification(partner.api);
  const first = await agree(api, id, [...requiredKeys, "nationality_code"]);
  const qr = await handOff(api, id);
  const second = await agree(api, id);
  assert.notEqual(second.cancel_token, first.cancel_token);
  assert.deepEqual((await detailsOf(path)).consent.selected_field_keys, requiredKeys);
  assert.deepEqual(expectData(await partner.api.get(`/v1/sessions/${id}`)).consent, {
    selected_field_keys: requiredKeys,
    given_at: clock.now().toISOString(),
    withdrawn_at: null,
  });
  const claim = { handoff_token: qr, device_id: "phone" };
  expectError(await api.post(`${path}/claim`, claim), 401, "HANDOFF_TOKEN_INVALID");
  const stale = await api.post(`${path}/handoff`, { cancel_token: first.cancel_token });
  expectError(stale, 401, "CANCEL_TOKEN_INVALID");
  expectError(
    await api.post(`${path}/cancel`, { cancel_token: first.cancel_token }),
    401,
    "CANCEL_TOKEN_INVALID",
  );
  const fresh = await handOff(api, id, second.cancel_token);
  expectData(await api.post(`${path}/claim`, { handoff_token: fresh, device_id: "phone" }), 201);
  const again = { selected_field_keys: requiredKeys, terms_version: termsVersion };
  expectError(await api.post(`${path}/consent`, again), 409, "CONSENT_FIXED");
  assert.equal((await detailsOf(path)).consent.fixed, true);
});

test("after the end or the hour nothing can be done, and the page can still explain", async () => {
  const consent = { selected_field_keys: requiredKeys, terms_version: termsVersion };
  const refused = async (path: string, token: string, code: string) => {
    expectError(await api.post(`${path}/consent`, consent), 409, code);
    expectError(await api.post(`${path}/handoff`), 409, code);
    expectError(await api.post(`${path}/claim`, { handoff_token: token, device_id: "phone" }), 409, code);
  };
  const ended = await startVerification(partner.api);
  const { handoffToken, attemptId, cancelToken } = await takeSession(api, ended.id);
  await fail(core, ended.id, attemptId, "document_expired");
  await refused(ended.path, handoffToken, "SESSION_ENDED");
  expectError(await api.post(`${ended.path}/cancel`, { cancel_token: cancelToken }), 409, "SESSION_ENDED");
  const status = expectData(await api.get(`${ended.path}/status`));
  assert.deepEqual([status.status, status.failure_code], ["failed", "document_expired"]);

  const late = await startVerification(partner.api);
  const { handoffToken: lateToken, cancelToken: lateCancel } = await takeSession(api, late.id);
  clock.advance(hourMs);
  await refused(late.path, lateToken, "SESSION_EXPIRED");
  expectError(await api.post(`${late.path}/cancel`, { cancel_token: lateCancel }), 409, "SESSION_EXPIRED");
  const details = await detailsOf(late.path);
  assert.deepEqual([details.status, details.completed_at], ["expired", details.expires_at]);
  assert.equal(details.organization.verified, false);
});

test("the person is sent back with session and status, and never to a domain that was lost", async () => {
  const { id, path } = await startVerification(partner.api, {
    redirect_url: "https://shop.example.com/done?cart=a%20b&status=mine#top",
  });
  const before = await detailsOf(path);
  assert.equal(before.return_url, null);
  await succeed(core, id, await claimed(core, id));
  const expected = `https://shop.example.com/done?cart=a+b&session_id=${id}&status=succeeded#top`;
  assert.equal((await detailsOf(path)).return_url, expected);
  assert.equal(expectData(await api.get(`${path}/status`)).return_url, expected);

  const plain = await startVerification(partner.api, { redirect_url: "https://shop.example.com/x?a=b%20c" });
  clock.advance(hourMs);
  assert.equal(
    (await detailsOf(plain.path)).return_url,
    `https://shop.example.com/x?a=b%20c&session_id=${plain.id}&status=expired`,
  );

  const live = await createLivePartner(core, api);
  const domainId = await verifyDomain(live.owner, dns, "live-return.example");
  const session = await startVerification(live.api, { redirect_url: "https://live-return.example/done" });
  await succeed(core, session.id, await claimed(core, session.id));
  assert.match(
    (await detailsOf(session.path)).return_url,
    /^https:\/\/live-return\.example\/done\?session_id=vs_/,
  );
  await core.db.run(sql`update verified_domains set downgraded_at = ${clock.now()} where id = ${domainId}`);
  assert.equal((await detailsOf(session.path)).return_url, null);
  assert.equal(expectData(await api.get(`${session.path}/status`)).return_url, null);
});

test("no one can share anything with an organization that is being deleted, but everyone can withdraw", async () => {
  const frozen = await createPartner(api);
  const { id, path, cancelToken } = await startVerification(frozen.api);
  await agree(api, id);
  const token = await handOff(api, id);
  await core.db.transaction((tx) =>
    setPendingDeletion(tx, frozen.organizationId, later(clock.now(), dayMs), clock.now()),
  );
  const consent = { selected_field_keys: requiredKeys, terms_version: termsVersion };
  expectError(await api.post(`${path}/consent`, consent), 410, "ORGANIZATION_FROZEN");
  expectError(await api.post(`${path}/handoff`), 410, "ORGANIZATION_FROZEN");
  expectError(
    await api.post(`${path}/claim`, { handoff_token: token, device_id: "phone" }),
    410,
    "ORGANIZATION_FROZEN",
  );
  assert.equal((await detailsOf(path)).status, "created");
  assert.equal(
    expectData(await api.post(`${path}/cancel`, { cancel_token: cancelToken })).outcome,
    "cancelled",
  );
});

test("the documents of the test country come as a page can read them", async () => {
  const { documents } = expectData(await api.get("/v1/verify/test-documents"));
  const valid = documents.find((document: { id: string }) => document.id === "passport-valid");
  assert.equal(valid.expectedFailureCode, null);
  assert.match(valid.files.SOD, /^base64:/);
  assert.equal(valid.chip.mrzKey.documentNumber, "UT0001TST");
  assert.ok(valid.chip.chipAuthentication[0].privateKey.startsWith("base64:"));
});

test("what is known of devices is forgotten after a week, consents with their session", async () => {
  const worker = await startTestService({ databaseUrl: service.databaseUrl, clock, role: "worker" });
  const kept = async (id: string) => {
    const counts = await core.db.one<{ consents: number; tokens: number; sockets: number }>(sql`
      select (select count(*) from consents where session_id = ${id}) as consents,
        (select count(*) from handoff_tokens where session_id = ${id}) as tokens,
        (select count(*) from attempt_sockets where session_id = ${id}) as sockets`);
    return [counts.consents, counts.tokens, counts.sockets];
  };
  const old = await startVerification(partner.api);
  await takeSession(api, old.id);
  // This token was not claimed, so no attempt deletes it.
  const unclaimed = await startVerification(partner.api);
  await agree(api, unclaimed.id);
  await handOff(api, unclaimed.id);
  clock.advance(hourMs + minuteMs);
  await worker.runJob("expire-sessions");
  clock.advance(6 * dayMs);
  await worker.runJob("minimise-attempts");
  assert.deepEqual(await kept(old.id), [1, 1, 1]);
  clock.advance(dayMs);
  const young = await startVerification(partner.api);
  await takeSession(api, young.id);
  await worker.runJob("minimise-attempts");
  assert.deepEqual(
    [await kept(old.id), await kept(young.id)],
    [
      [1, 0, 0],
      [1, 1, 1],
    ],
  );
  clock.advance(23 * dayMs);
  await worker.runJob("purge-sessions");
  assert.deepEqual(
    [await kept(old.id), await kept(unclaimed.id)],
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
  );
  assert.equal((await kept(young.id))[0], 1);
});

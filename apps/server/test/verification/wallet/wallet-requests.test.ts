import assert from "node:assert/strict";
import { test } from "node:test";
import { sealAnnexC } from "@assay/credential/annex-c/annex-c";
import { toBase64Url } from "@assay/credential/base64url";
import {
  answerAsWallet,
  type ReceivedRequest,
  receiveRequest,
} from "@assay/credential/openid4vp/answer-as-wallet";
import { testStatusUri } from "@assay/credential/test-country/test-status";
import { answerRequest } from "@assay/credential/test-wallet/answer-request";
import { readRequest } from "@assay/credential/test-wallet/read-request";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs, minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { type Answer, createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { eventsOf } from "../../support/sessions.ts";
import { agree, claimWith, handOff } from "../../support/verify.ts";
import { mdlMdoc, pidSdJwt, thumbprintOf } from "../../support/wallet-credentials.ts";

const service = await startTestService();
const { api, clock, core, runJob } = service;
const partner = await createPartner(api);
const { db } = core;

const reason = "We need it.";
const fieldsOf = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, { required: true, reason }]));

type Asked = {
  methods?: readonly string[];
  fields?: readonly string[];
  requirements?: object;
  redirect_url?: string;
};

async function createSession({ methods = ["wallet_pid"], fields = ["family_name"], ...more }: Asked = {}) {
  const body = { methods, share_fields: fieldsOf(fields), ...more };
  const { id } = expectData(await partner.api.post("/v1/sessions", body), 201);
  return { id, path: `/v1/verify/session/${id}` };
}

/** A session whose person has agreed to everything. */
async function agreed(asked: Asked = {}) {
  const session = await createSession(asked);
  const { cancel_token: cancelToken } = await agree(api, session.id, [
    ...(asked.fields ?? ["family_name"]),
    "service_document_id",
  ]);
  return { ...session, cancelToken };
}

const cookieOf = ({ headers }: Answer) => headers.getSetCookie()[0]?.split(";")[0] ?? "";

async function ask(path: string, body: object = { channel: "redirect" }) {
  const answer = await api.post(`${path}/wallet`, body);
  return { ...expectData(answer, 201), cookie: cookieOf(answer) } as {
    request_id: string;
    expires_at: string;
    link: string;
    dc_request: { requests: { protocol: string; data: Record<string, string> }[] };
    cookie: string;
  };
}

const now = () => clock.now();
const wallet = { fetch: (url: string, init: object) => fetch(url, init) };
const walletAnswers = async (link: string, outcome: Parameters<typeof answerRequest>[1] = "valid") =>
  answerRequest(await readRequest(link, wallet.fetch), outcome, { ...wallet, now: now() });
const codeOf = ({ redirectUri }: { redirectUri: string | null }) =>
  new URLSearchParams(new URL(redirectUri ?? "").hash.slice(1)).get("response_code");
const complete = (path: string, code: string | null, cookie: string) =>
  api.post(`${path}/wallet/complete`, { response_code: code }, { cookie });
const statusOf = async (path: string) => expectData(await api.get(`${path}/status`));
const rowsOf = (id: string) =>
  db.rows<{ state: string; held: Buffer | null; responseKeySealed: Buffer | null }>(
    sql`select state, held, response_key_sealed from wallet_requests where session_id = ${id} order by state`,
  );

test("the page gets the wallet methods by which the person can be verified, their channels and what they read", async () => {
  const methods = ["wallet_age", "document_chip", "wallet_pid", "wallet_mdl"];
  const { path } = await createSession({ methods, fields: ["age_over_18"] });
  const looksAt = ["date_of_birth", "document_expiry_date"];
  assert.deepEqual(expectData(await api.get(`${path}/details`)).ways, [
    { method: "wallet_age", channels: ["dc_api", "age_link"], looks_at: [] },
    { method: "document_chip", channels: [], looks_at: [] },
    { method: "wallet_pid", channels: ["dc_api", "redirect"], looks_at: looksAt },
    { method: "wallet_mdl", channels: ["dc_api", "redirect"], looks_at: looksAt },
  ]);
  const named = await createSession({ methods, fields: ["family_name"] });
  const ways = expectData(await api.get(`${named.path}/details`)).ways as { method: string }[];
  assert.deepEqual(
    ways.map(({ method }) => method),
    ["document_chip", "wallet_pid", "wallet_mdl"],
  );
  const steps = (await statusOf(path)).steps as { name: string }[];
  assert.deepEqual(
    steps.map(({ name }) => name),
    ["wallet", "chip", "face"],
  );
});

test("a request begins the attempt, fixes the choice, and ties itself to the browser by a cookie", async () => {
  const { id, path } = await agreed();
  const started = await api.post(`${path}/wallet`, { channel: "redirect" });
  const { request_id: requestId, expires_at: expiresAt, link, dc_request: dc } = expectData(started, 201);
  const [cookie = ""] = started.headers.getSetCookie();
  assert.equal(cookie.split("=")[0], `assay_wallet_${id}`);
  assert.match(cookie, /=\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  assert.equal(expiresAt, new Date(now().getTime() + 5 * minuteMs).toISOString());
  assert.match(link, /^haip-vp:\/\/\?client_id=x509_hash%3A/);
  assert.equal(dc, null);
  const { status, attempt } = await statusOf(path);
  assert.deepEqual([status, attempt.step], ["in_progress", "wallet"]);
  expectError(
    await api.post(`${path}/consent`, {
      selected_field_keys: ["family_name", "service_document_id"],
      terms_version: "x",
    }),
    409,
    "CONSENT_FIXED",
  );
  // Five different random values. The three secrets among them are not stored in the clear.
  const request = await readRequest(link, wallet.fetch);
  const code = codeOf(await answerRequest(request, "valid", { ...wallet, now: now() }));
  const values = [id, requestId, request.nonce, cookieOf(started).split("=")[1], code];
  assert.equal(new Set(values).size, 5);
  const row = await db.one<{ row: string }>(
    sql`select to_jsonb(w)::text as row from wallet_requests w where session_id = ${id}`,
  );
  for (const secret of [requestId, cookieOf(started).split("=")[1], code])
    assert.ok(
      !row.row.includes(String(secret)) && !row.row.includes(Buffer.from(String(secret)).toString("hex")),
    );
});

test("the request object is handed out once, and again to a wallet that posts within a minute, with its nonce", async () => {
  const { path } = await agreed();
  const fetchRequest = async (link: string, method: string, form?: Record<string, string>) => {
    const uri = new URLSearchParams(link.slice(link.indexOf("?"))).get("request_uri") ?? "";
    return fetch(uri, { method, ...(form ? { body: new URLSearchParams(form) } : {}) });
  };
  const { link } = await ask(path);
  const first = await fetchRequest(link, "GET");
  assert.deepEqual(
    [first.status, first.headers.get("content-type")],
    [200, "application/oauth-authz-req+jwt"],
  );
  assert.equal((await fetchRequest(link, "GET")).status, 404);
  const again = await fetchRequest(link, "POST", { wallet_nonce: "of the wallet", wallet_metadata: "{}" });
  const payload = JSON.parse(
    Buffer.from((await again.text()).split(".")[1] ?? "", "base64url").toString(),
  ) as Record<string, unknown>;
  assert.equal(payload.wallet_nonce, "of the wallet");
  assert.equal(payload.response_mode, "direct_post.jwt");
  clock.advance(61 * secondMs);
  const late = await fetchRequest(link, "POST", {});
  assert.deepEqual([late.status, await late.json()], [404, { error: "invalid_request" }]);
  // A newer request replaces the one before.
  const [older, newer] = [await ask(path), await ask(path)];
  assert.equal((await fetchRequest(older.link, "GET")).status, 404);
  assert.equal((await fetchRequest(newer.link, "POST", {})).status, 200);
  assert.equal((await fetch(`${service.url}/oid4vp/request/unknown`)).status, 404);
});

test("all bad answers are answered alike, in OAuth's form, and five of them retire the request without a try", async () => {
  const { id, path } = await agreed();
  const { link, request_id: requestId } = await ask(path);
  const request = await readRequest(link, wallet.fetch);
  const form = "application/x-www-form-urlencoded";
  const send = (to: string, body: string, type = form) =>
    fetch(to, { method: "POST", headers: { "content-type": type }, body });
  const { responseUri } = request;
  const bad = [
    () => send(`${service.url}/oid4vp/response/unknown`, "response=a"),
    () => send(responseUri, JSON.stringify({ response: "a" }), "application/json"),
    () => send(responseUri, "response=a&response=b"),
    () => send(responseUri, `response=${"a".repeat(257 * 1024)}`),
    () => send(responseUri, "response=%00"),
    () => send(responseUri, ""),
    () => send(responseUri, "response=a"),
    () => send(responseUri, "vp_token=%7B%7D"),
    () => send(responseUri, `error=access_denied&state=${"b".repeat(43)}`),
    () => send(responseUri, "response=eyJhbGciOiJub25lIn0....", form),
  ];
  for (const [at, call] of bad.entries()) {
    const answer = await call();
    assert.deepEqual([answer.status, await answer.json()], [400, { error: "invalid_request" }], String(at));
    assert.equal(answer.headers.get("set-cookie"), null);
  }
  assert.deepEqual(
    (await rowsOf(id)).map(({ state, responseKeySealed }) => [state, responseKeySealed]),
    [["expired", null]],
  );
  expectNoTry(await statusOf(path));
  // What would have been right before is too late.
  await assert.rejects(answerRequest(request, "valid", { ...wallet, now: now() }), /HTTP 400/);
  const entries = expectData<{ target_id: string; details: Record<string, unknown> }[]>(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.wallet_rejected" }),
  ).filter(({ target_id }) => target_id === id);
  assert.equal(entries.length, 5);
  for (const { details } of entries) assert.deepEqual(details.reasons, ["unreadable"]);
  assert.ok(!JSON.stringify(entries).includes(requestId));
});

function expectNoTry(status: { status: string; steps: { name: string; tries_used: number }[] }): void {
  assert.equal(status.status, "in_progress");
  assert.equal(status.steps.find(({ name }) => name === "wallet")?.tries_used, 0);
}

test("nothing is recorded before the person is back; then the session succeeds by this method", async () => {
  const { id, path } = await agreed({ fields: ["family_name", "age_over_18"] });
  const { link, cookie } = await ask(path);
  const code = codeOf(await walletAnswers(link));
  assert.equal((await statusOf(path)).status, "in_progress");
  assert.deepEqual(await eventsOf(core, id), []);
  assert.ok((await rowsOf(id))[0]?.held);
  const outcome = expectData(await complete(path, code, cookie));
  assert.deepEqual(outcome, { status: "succeeded", failure_code: null, tries_left: 2 });
  assert.deepEqual(await eventsOf(core, id), ["verification.session.succeeded"]);
  const session = expectData(await partner.api.get(`/v1/sessions/${id}`));
  const { verified_at: _, ...evidence } = session.evidence;
  assert.deepEqual(evidence, {
    method: "wallet",
    credential: "eudi_pid",
    format: "dc+sd-jwt",
    trust: "sandbox",
    holder: "key_proven",
    revocation: "checked",
    binding: "same_browser",
    level: null,
    warnings: [],
  });
  assert.deepEqual([session.contract_version, session.nfc_tries_used], [2, 0]);
  expectError(await complete(path, code, cookie), 404, "WALLET_REQUEST_NOT_FOUND");
  expectError(await api.post(`${path}/wallet`, { channel: "redirect" }), 409, "SESSION_ENDED");
  const overview = expectData(await partner.api.get("/v1/analytics/sessions/overview"));
  assert.ok(overview.methods.wallet_pid >= 1 && overview.funnel.wallet_presented >= 1);
  // The request is deleted with its session.
  await runJob("purge-wallet-requests");
  assert.deepEqual(await rowsOf(id), []);
});

test("of two returns at once, one is recorded", async () => {
  const { id, path } = await agreed();
  const { link, cookie } = await ask(path);
  const code = codeOf(await walletAnswers(link));
  const returns = await Promise.all([complete(path, code, cookie), complete(path, code, cookie)]);
  assert.deepEqual(returns.map(({ status }) => status).sort(), [200, 404]);
  assert.deepEqual(await eventsOf(core, id), ["verification.session.succeeded"]);
});

test("a held proof is erased after five minutes without a return, and the session goes on", async () => {
  const { id, path } = await agreed();
  const { link, cookie } = await ask(path);
  const code = codeOf(await walletAnswers(link));
  clock.advance(5 * minuteMs);
  expectError(await complete(path, code, cookie), 409, "WALLET_REQUEST_EXPIRED");
  assert.equal((await rowsOf(id))[0]?.held, null);
  const next = await ask(path);
  await walletAnswers(next.link);
  clock.advance(5 * minuteMs);
  await runJob("purge-wallet-requests");
  assert.deepEqual(
    (await rowsOf(id)).map(({ state }) => state),
    ["expired"],
  );
  expectNoTry(await statusOf(path));
  const last = await ask(path);
  assert.equal(
    expectData(await complete(path, codeOf(await walletAnswers(last.link)), last.cookie)).status,
    "succeeded",
  );
});

test("a newer request erases what was held for the one before", async () => {
  const { id, path } = await agreed();
  const { link, cookie } = await ask(path);
  const code = codeOf(await walletAnswers(link));
  const { cookie: newer } = await ask(path);
  assert.deepEqual((await rowsOf(id)).map(({ state, held }) => [state, held]).sort(), [
    ["expired", null],
    ["made", null],
  ]);
  for (const browser of [cookie, newer])
    expectError(await complete(path, code, browser), 404, "WALLET_REQUEST_NOT_FOUND");
});

test("requests of cancelled sessions and of yesterday are erased", async () => {
  const cancelled = await agreed();
  const { link } = await ask(cancelled.path);
  await walletAnswers(link);
  const old = await agreed();
  await ask(old.path);
  await runJob("purge-wallet-requests");
  assert.equal((await rowsOf(cancelled.id)).length, 1);
  expectData(await api.post(`${cancelled.path}/cancel`, { cancel_token: cancelled.cancelToken }));
  await runJob("purge-wallet-requests");
  assert.deepEqual(await rowsOf(cancelled.id), []);
  await db.run(
    sql`update wallet_requests set made_at = ${new Date(now().getTime() - dayMs)} where session_id = ${old.id}`,
  );
  await runJob("purge-wallet-requests");
  assert.deepEqual(await rowsOf(old.id), []);
});

test("a refused presentation is a try, with its reason in the audit log; the third ends the session", async () => {
  const { id, path } = await agreed();
  for (const left of [2, 1, 0]) {
    const { link } = await ask(path);
    assert.equal(codeOf(await walletAnswers(link, left === 1 ? "wrong-holder-key" : "revoked")), null);
    const status = await statusOf(path);
    assert.equal(status.steps[0].tries_left, left);
    if (left > 0)
      assert.equal(
        status.attempt.refused.failure_code,
        left === 1 ? "holder_binding_failed" : "document_authenticity_failed",
      );
  }
  const session = expectData(await partner.api.get(`/v1/sessions/${id}`));
  assert.deepEqual([session.status, session.failure_code], ["failed", "document_authenticity_failed"]);
  const entries = expectData<{ target_id: string; details: { reasons: string[] } }[]>(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "session.wallet_rejected" }),
  ).filter(({ target_id }) => target_id === id);
  assert.deepEqual(
    entries.map(({ details }) => details.reasons[0]),
    ["revoked", "holder_signature", "revoked"],
  );
});

test("the first browser of a session is distinguished from one that it was handed over to", async () => {
  const bindingOf = async (id: string) =>
    expectData(await partner.api.get(`/v1/sessions/${id}`)).evidence.binding;
  const finish = async (body: object, opens: boolean) => {
    const { id, path } = await agreed();
    const { return_code: returnCode } = opens
      ? expectData(await api.post(`${path}/open`))
      : { return_code: null };
    const { link, cookie } = await ask(path, {
      ...body,
      ...("return_code" in body ? { return_code: returnCode } : {}),
    });
    expectData(await complete(path, codeOf(await walletAnswers(link)), cookie));
    return bindingOf(id);
  };
  assert.equal(await finish({ channel: "redirect", return_code: "" }, true), "same_browser");
  assert.equal(await finish({ channel: "redirect" }, true), "handed_over");
  assert.equal(await finish({ channel: "redirect" }, false), "same_browser");
});

test("where one browser is required, another may ask no wallet, and no link leads to another device", async () => {
  const asked = { methods: ["wallet_age"], fields: ["age_over_18"], requirements: { binding: "required" } };
  const { id, path } = await createSession(asked);
  const { return_code } = expectData(await api.post(`${path}/open`));
  expectData(
    await api.post(`${path}/consent`, {
      selected_field_keys: ["age_over_18", "service_document_id"],
      terms_version: expectData(await api.get(`${path}/details`)).terms.version,
      return_code,
    }),
    201,
  );
  assert.deepEqual(expectData(await api.get(`/v1/verify/session/${id}/details`)).ways[0].channels, [
    "dc_api",
  ]);
  expectError(await api.post(`${path}/wallet`, { channel: "dc_api" }), 403, "OTHER_BROWSER");
  expectError(
    await api.post(`${path}/wallet`, { channel: "age_link", return_code }),
    409,
    "WALLET_NOT_OFFERED",
  );
  expectData(await api.post(`${path}/wallet`, { channel: "dc_api", return_code }), 201);
});

test("a wallet is asked only after consent, and only in a way that the session offers", async () => {
  const { path } = await createSession();
  expectError(await api.post(`${path}/wallet`, { channel: "redirect" }), 409, "CONSENT_REQUIRED");
  const other = await agreed();
  for (const body of [{ channel: "age_link" }, { channel: "redirect", method: "wallet_mdl" }])
    expectError(await api.post(`${other.path}/wallet`, body), 409, "WALLET_NOT_OFFERED");
  const chip = await agreed({ methods: ["document_chip"] });
  expectError(await api.post(`${chip.path}/wallet`, { channel: "redirect" }), 409, "WALLET_NOT_OFFERED");
  assert.equal((await statusOf(chip.path)).status, "created");
});

test("the page takes over from a reading device, and gives way to one, only with the person's token", async () => {
  const { id, path, cancelToken } = await agreed({ methods: ["document_chip", "wallet_pid"] });
  const device = () => handOff(api, id, cancelToken);
  expectData(await claimWith(api, id, await device(), "a-phone"), 201);
  expectError(await api.post(`${path}/wallet`, { channel: "redirect" }), 403, "HANDOFF_DEVICE_MISMATCH");
  expectError(
    await api.post(`${path}/wallet`, { channel: "redirect", cancel_token: "another" }),
    401,
    "CANCEL_TOKEN_INVALID",
  );
  const { link, cookie } = await ask(path, { channel: "redirect", cancel_token: cancelToken });
  const code = codeOf(await walletAnswers(link));
  expectData(await claimWith(api, id, await device(), "a-phone"), 201);
  expectError(await complete(path, code, cookie), 409, "WALLET_REQUEST_EXPIRED");
  assert.equal((await statusOf(path)).status, "in_progress");
});

test("required revocation: without a status list the presentation is refused, and no try is used up", async () => {
  const { path } = await agreed({ requirements: { revocation: "required" } });
  const claims = { family_name: "Lindqvist", date_of_expiry: "2031-06-30" };
  const present = async (more: { status?: { uri: string; idx: number }; lifeMs?: number }) => {
    const { link, cookie } = await ask(path);
    const request = await readRequest(link, wallet.fetch);
    const { clientId: audience, nonce } = request;
    const made = await pidSdJwt({
      claims,
      discloses: Object.keys(claims),
      audience,
      nonce,
      now: now(),
      ...more,
    });
    const answer = { kind: "presented", id: "pid_sd", presentation: made.presentation } as const;
    const body = new URLSearchParams(await answerAsWallet(answer, request));
    const sent = (await (await fetch(request.responseUri, { method: "POST", body })).json()) as {
      redirect_uri: string;
    };
    return { code: codeOf({ redirectUri: sent.redirect_uri }), cookie };
  };
  // A list that cannot be fetched, and no list.
  for (const more of [{ status: { uri: "https://127.0.0.1:1/list", idx: 3 } }, {}]) {
    assert.equal((await present(more)).code, null);
    const status = await statusOf(path);
    expectNoTry(status);
    assert.deepEqual(status.attempt.refused, {
      failure_code: "document_authenticity_failed",
      unmet_requirement: "revocation",
    });
  }
  const { code, cookie } = await present({ lifeMs: dayMs });
  assert.equal(expectData(await complete(path, code, cookie)).status, "succeeded");
});

// --- the Digital Credentials API ---------------------------------------------------------------------------

async function askBrowser(asked: Asked) {
  const session = await agreed(asked);
  const made = await ask(session.path, { channel: "dc_api" });
  const [signed, ...mdocs] = made.dc_request.requests;
  assert.equal(signed?.protocol, "openid4vp-v1-signed");
  const request = receiveRequest(signed?.data.request ?? "");
  const answer = (body: object, cookie = made.cookie) =>
    api.post(`${session.path}/wallet/answer`, { request_id: made.request_id, ...body }, { cookie });
  return { ...session, made, request, mdocs, answer };
}

async function overOpenId4vp(request: ReceivedRequest, more: { audience?: string } = {}) {
  const claims = { family_name: "Lindqvist", date_of_expiry: "2031-06-30" };
  const { presentation } = await pidSdJwt({
    claims,
    discloses: Object.keys(claims),
    status: { uri: testStatusUri(service.url, "pid"), idx: 4 },
    audience: more.audience ?? `origin:${service.url}`,
    nonce: request.nonce,
    now: now(),
  });
  const data = await answerAsWallet({ kind: "presented", id: "pid_sd", presentation }, request);
  return { protocol: "openid4vp-v1-signed", data };
}

test("over the browser's API an SD-JWT VC is recorded at once, bound to our origin", async () => {
  const { id, request, made, answer } = await askBrowser({});
  assert.equal(made.link, null);
  assert.equal(request.responseMode, "dc_api.jwt");
  const body = await overOpenId4vp(request);
  expectError(await answer(body, ""), 403, "WALLET_OTHER_BROWSER");
  expectError(await answer(body, `assay_wallet_${id}=other`), 403, "WALLET_OTHER_BROWSER");
  assert.deepEqual(expectData(await answer(body)), {
    status: "succeeded",
    failure_code: null,
    tries_left: 2,
  });
  expectError(await answer(body), 409, "WALLET_ANSWERED");
  const { evidence } = expectData(await partner.api.get(`/v1/sessions/${id}`));
  assert.deepEqual(
    [evidence.binding, evidence.format, evidence.revocation],
    ["platform", "dc+sd-jwt", "checked"],
  );
});

test("over the browser's API a presentation for another origin is refused, and what cannot be read is none", async () => {
  const { path, request, answer } = await askBrowser({});
  for (const body of [
    { protocol: "openid4vp-v1-signed", data: {} },
    { protocol: "openid4vp-v1-signed", data: { response: "a" } },
    { protocol: "org-iso-mdoc", data: { response: "a" } },
    { protocol: "another", data: {} },
  ])
    expectError(await answer(body), 400, "INVALID_REQUEST");
  expectNoTry(await statusOf(path));
  const foreign = await overOpenId4vp(request, { audience: "origin:https://evil.example" });
  assert.deepEqual(expectData(await answer(foreign)), {
    status: "in_progress",
    failure_code: "holder_binding_failed",
    tries_left: 2,
  });
  const { answer: later } = await askBrowser({});
  clock.advance(5 * minuteMs);
  expectError(await later(foreign), 409, "WALLET_REQUEST_EXPIRED");
  const elsewhere = await askBrowser({});
  expectError(
    await api.post(`${path}/wallet/answer`, { request_id: elsewhere.made.request_id, ...foreign }),
    404,
    "WALLET_REQUEST_NOT_FOUND",
  );
});

test("over the browser's API a driving licence comes by either protocol", async () => {
  const asked = { methods: ["wallet_mdl", "wallet_pid"] };
  const origin = service.url;
  const annexC = await askBrowser(asked);
  assert.deepEqual(
    annexC.mdocs.map(({ protocol }) => protocol),
    ["org-iso-mdoc", "org-iso-mdoc"],
  );
  const encryptionInfo = annexC.mdocs[0]?.data.encryptionInfo ?? "";
  const byIso = { kind: "annex_c", origin, encryptionInfo } as const;
  const response = await sealAnnexC(await mdlMdoc({ binding: byIso, now: now() }), byIso);
  const outcome = expectData(await annexC.answer({ protocol: "org-iso-mdoc", data: { response } }));
  assert.equal(outcome.status, "succeeded");
  const { evidence } = expectData(await partner.api.get(`/v1/sessions/${annexC.id}`));
  assert.deepEqual(
    [evidence.credential, evidence.binding, evidence.revocation],
    ["mdl", "platform", "short_lived"],
  );

  const { request, answer } = await askBrowser(asked);
  const keyThumbprint = await thumbprintOf(request.encryptionKey ?? {});
  const binding = { kind: "dc_api", origin, nonce: request.nonce, keyThumbprint } as const;
  const presentation = toBase64Url(await mdlMdoc({ binding, now: now() }));
  const data = await answerAsWallet({ kind: "presented", id: "mdl", presentation }, request);
  assert.equal(expectData(await answer({ protocol: "openid4vp-v1-signed", data })).status, "succeeded");
});

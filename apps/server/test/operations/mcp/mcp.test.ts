import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { claimKeys } from "@assay/contract/sessions";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SandboxDevices } from "../../../src/operations/mcp/finish-sandbox-session.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import type { ApiError } from "../../../src/platform/kernel/api-error.ts";
import { createKey, createPartner, expectData, noteCode } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { registration } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const service = await startTestService({
  role: "api",
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "receiver.test" },
});
const { api, core, url, clock, logLines } = service;
const partner = await createPartner(api);
const version = "2026-07-28";

/** The client of the SDK: of the revision without a handshake, or as clients were before. */
async function connect(
  key: string,
  mode: "stateless" | "legacy" = "stateless",
  send: (url: URL | string, init?: RequestInit) => Promise<Response> = fetch,
) {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: mode === "legacy" ? "legacy" : { pin: version } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      fetch: send,
    }),
  );
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: given });
    const [content] = result.content as { type: string; text: string }[];
    const text = content?.text ?? "";
    return { text, isError: result.isError === true, structured: result.structuredContent };
  };
  /** What a call gives that succeeds. */
  const done = async (name: string, given: Record<string, unknown> = {}) => {
    const { text, isError, structured } = await call(name, given);
    assert.equal(isError, false, text);
    assert.deepEqual(JSON.parse(text), structured, "the text is what is structured");
    return (structured as { data: any }).data;
  };
  /** The failure of a call that is refused. */
  const refused = async (name: string, given: Record<string, unknown> = {}) => {
    const { text, isError, structured } = await call(name, given);
    assert.equal(isError, true, text);
    assert.equal(structured, undefined);
    const { error } = JSON.parse(text);
    assert.deepEqual(Object.keys(error).sort(), ["code", "docs", "hint", "message", "request_id"]);
    noteCode(error.code);
    return error as { code: string; message: string; hint: string; request_id: string };
  };
  return { client, names, call, done, refused };
}

async function keyWith(...scopes: string[]): Promise<string> {
  return (await createKey(partner.owner, scopes)).secret;
}

/** The test's own messages, with mistakes that the SDK's client does not make. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${partner.key.secret}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}

function stateless(method: string, params: Record<string, unknown> = {}, stated: string = version) {
  const name = typeof params.name === "string" ? { "mcp-name": params.name } : {};
  const Meta = {
    "io.modelcontextprotocol/protocolVersion": stated,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    body: { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: Meta } },
    headers: { "mcp-protocol-version": stated, "mcp-method": method, ...name },
  };
}

for (const mode of ["stateless", "legacy"] as const) {
  test(`a client (${mode}) makes a test session, finishes it and reads how it ended`, async () => {
    const { client, done } = await connect(partner.key.secret, mode);
    const session = await done("createSession", { sandbox: true, client_reference_id: "order-1" });
    assert.equal(session.sandbox, true);
    assert.equal("cancel_token" in session, false);
    const finished = await done("finishSandboxSession", { session_id: session.id });
    assert.deepEqual(finished, {
      session_id: session.id,
      document: "passport-valid",
      wallet: null,
      status: "succeeded",
      failure_code: null,
      unmet_requirement: null,
    });
    const read = await done("getSession", { id: session.id });
    assert.equal(read.status, "succeeded");
    assert.deepEqual(read, expectData(await partner.api.get(`/v1/sessions/${session.id}`)));
    await client.close();
  });
}

test("it does not matter which process gets a message", async () => {
  const { databaseUrl } = service;
  const other = await startTestService({ role: "api", databaseUrl });
  for (const mode of ["stateless", "legacy"] as const) {
    let turn = 0;
    const { done } = await connect(partner.key.secret, mode, (to, init) => {
      turn += 1;
      return fetch(String(to).replace(url, turn % 2 === 0 ? url : other.url), init);
    });
    const { id } = await done("createSession", { sandbox: true });
    const finished = await done("finishSandboxSession", { session_id: id });
    assert.equal(finished.status, "succeeded");
    assert.equal((await done("getSession", { id })).status, "succeeded");
    assert.ok(turn >= 3);
  }
});

test("a test document decides how the session ends, and it ends once", async () => {
  const { done, refused } = await connect(partner.key.secret);
  const { id } = await done("createSession", { sandbox: true });
  const finished = await done("finishSandboxSession", { session_id: id, document: "passport-expired" });
  assert.equal(finished.status, "failed");
  assert.equal(finished.failure_code, "document_expired");
  assert.equal((await refused("finishSandboxSession", { session_id: id })).code, "SESSION_ENDED");
  const unknown = await refused("finishSandboxSession", { session_id: id, document: "passport-blue" });
  assert.equal(unknown.code, "BAD_REQUEST");
  assert.match(unknown.message, /`document` must be one of: passport-valid/);
  const open = await done("createSession", {
    share_fields: { sex_marker: { required: true, reason: "To address you." } },
  });
  const declined = await refused("finishSandboxSession", { session_id: open.id, decline: ["sex_marker"] });
  assert.equal(declined.code, "TEST_DEVICE_REFUSED");
  assert.match(declined.message, /sex_marker is required/);
});

test("the test wallet finishes a session as its outcome says, and a wallet that declines leaves it open", async () => {
  const { done, refused } = await connect(partner.key.secret);
  const shareFields = { age_over_18: { required: true, reason: "We sell wine." } };
  const ends = async (given: Record<string, unknown>) => {
    const { id } = await done("createSession", {
      methods: [`wallet_${given.wallet}`],
      share_fields: shareFields,
    });
    const { status, failure_code, wallet, document } = await done("finishSandboxSession", {
      session_id: id,
      ...given,
    });
    return [wallet, document, status, failure_code];
  };
  assert.deepEqual(await ends({ wallet: "pid" }), ["pid", null, "succeeded", null]);
  assert.deepEqual(await ends({ wallet: "mdl", outcome: "minor" }), ["mdl", null, "succeeded", null]);
  assert.deepEqual(await ends({ wallet: "age" }), ["age", null, "succeeded", null]);
  const failed = await ends({ wallet: "mdl", outcome: "revoked" });
  assert.deepEqual(failed, ["mdl", null, "failed", "document_authenticity_failed"]);
  const declined = await ends({ wallet: "pid", outcome: "declines" });
  assert.deepEqual(declined, ["pid", null, "in_progress", null]);
  const { id } = await done("createSession", { sandbox: true });
  for (const given of [{ wallet: "pid", document: "passport-valid" }, { outcome: "valid" }])
    assert.equal((await refused("finishSandboxSession", { session_id: id, ...given })).code, "BAD_REQUEST");
  const elsewhere = await refused("finishSandboxSession", { session_id: id, wallet: "pid" });
  assert.equal(elsewhere.code, "TEST_DEVICE_REFUSED");
  assert.match(elsewhere.message, /does not offer wallet_pid/);
});

test("the test wallet works where the public address is https and out of reach from the service", async () => {
  const elsewhere = await startTestService({ role: "api", env: { PUBLIC_URL: "https://id.invalid" } });
  const { organizationId, api: own } = await createPartner(elsewhere.api);
  const shareFields = { family_name: { required: true, reason: "To address you." } };
  const { id } = expectData(
    await own.post("/v1/sessions", { methods: ["wallet_pid"], share_fields: shareFields }),
    201,
  );
  const devices = new SandboxDevices(elsewhere.core, () => elsewhere.url);
  const by = { kind: "wallet", credential: "pid", outcome: "valid" } as const;
  const tenant = { organizationId, environment: "sandbox" } as const;
  const finish = { sessionId: id, by, decline: [] };
  const { status } = await devices.finish(tenant, finish, new AbortController().signal);
  assert.equal(status, "succeeded");
});

test("a key sees the tools of its scopes, and those that write only where it may write", async () => {
  const reader = await connect(await keyWith("sessions:read"));
  assert.deepEqual(await reader.names(), [
    "listSessions",
    "listAttempts",
    "getSession",
    "listSessionTemplates",
  ]);
  const { tools } = await reader.client.listTools();
  for (const { annotations } of tools) assert.equal(annotations?.readOnlyHint, true);
  const writer = await connect(await keyWith("sessions:write"));
  assert.deepEqual(await writer.names(), ["createSession", "cancelSession", "finishSandboxSession"]);
  const all = await (await connect(partner.key.secret)).names();
  assert.equal(all.length, 20, "and five more behind the switch");
  assert.ok(!all.includes("rotateWebhookSigningSecret"));
});

test("a tool outside of the key's scopes is refused in the words of the API", async () => {
  const { refused } = await connect(await keyWith("sessions:read"));
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  for (const [name, given] of [
    ["createSession", {}],
    ["createSession", { sandbox: true }],
    ["finishSandboxSession", { session_id: session.id }],
    ["cancelSession", { id: session.id }],
  ] as const) {
    const error = await refused(name, given);
    assert.equal(error.code, "FORBIDDEN", name);
    assert.equal(error.message, "The API key lacks the scope sessions:write.");
    assert.equal(error.hint, "Give the key the scope sessions:write, or use another key.");
  }
  assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "created");
});

/** An organization whose owner has turned the switch on, which is off at first. */
async function letAgentsChangeWebhooks(on: boolean): Promise<void> {
  expectData(await partner.owner.api.patch("/v1/auth/orgs", { agents_may_change_webhooks: on }));
}

const destinationTools = [
  "createWebhookEndpoint",
  "deactivateWebhookKey",
  "reactivateWebhookKey",
  "registerWebhookKey",
  "updateWebhookEndpoint",
];

test("until an owner allows it, no tool that changes where results go is listed or can be called", async () => {
  const { names, refused } = await connect(partner.key.secret);
  const listed = await names();
  assert.deepEqual(
    listed.filter((name) => destinationTools.includes(name)),
    [],
  );
  assert.ok(listed.includes("deleteWebhookEndpoint"));
  for (const name of destinationTools) {
    const error = await refused(name, { url: "https://receiver.test/hook" });
    assert.equal(error.code, "AGENTS_MAY_NOT_CHANGE_WEBHOOKS", name);
    assert.match(error.hint, /Agents may change where results go.*Settings/);
  }
  assert.deepEqual(expectData(await partner.api.get("/v1/webhooks/endpoints")), []);
  // The API itself needs the scope alone.
  const { endpoint } = expectData(
    await partner.api.post("/v1/webhooks/endpoints", { url: "https://receiver.test/hook" }),
    201,
  );
  assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 204);
});

test("the switch of the organization is an owner's, acts at once, and does not replace the scope", async () => {
  const organization = expectData<{ agents_may_change_webhooks: boolean }[]>(
    await partner.owner.api.get("/v1/auth/orgs"),
  )[0];
  assert.equal(organization?.agents_may_change_webhooks, false);
  await letAgentsChangeWebhooks(true);
  // A client caches the list for a minute, so each look uses a new client.
  const isListed = async () => {
    const { names } = await connect(partner.key.secret);
    return (await names()).filter((name) => destinationTools.includes(name)).sort();
  };
  assert.deepEqual(await isListed(), destinationTools);
  const reader = await connect(await keyWith("webhooks:read"));
  assert.equal((await reader.refused("createWebhookEndpoint", {})).code, "FORBIDDEN");
  await letAgentsChangeWebhooks(false);
  assert.deepEqual(await isListed(), []);
});

test("no tool sends an agent to a secret that it withholds", async () => {
  await letAgentsChangeWebhooks(true);
  const { client } = await connect(partner.key.secret);
  for (const { name, description } of (await client.listTools()).tools)
    if (/withholds/.test(description ?? "")) assert.doesNotMatch(description ?? "", /shown only here/, name);
});

test("no answer of any tool holds a claim or a secret of what it is about", async () => {
  await letAgentsChangeWebhooks(true);
  const { client, call, done } = await connect(partner.key.secret);
  const created = await call("createWebhookEndpoint", { url: "https://receiver.test/hook" });
  const { endpoint } = (created.structured as { data: any }).data;
  const key = await done("registerWebhookKey", { endpoint_id: endpoint.id, ...registration("key-1") });
  const shareFields = Object.fromEntries(
    [...claimKeys, "age_over_18"]
      .filter((name) => name !== "service_document_id")
      .map((name) => [name, { required: true, reason: "Everything there is." }]),
  );
  const first = await call("createSession", { share_fields: shareFields, idempotency_key: "once" });
  const again = await call("createSession", { share_fields: shareFields, idempotency_key: "once" });
  assert.equal(again.text, first.text, "the first answer is given again, as withheld as before");
  const { id } = (first.structured as { data: any }).data;
  const finished = await call("finishSandboxSession", { session_id: id });
  assert.match(finished.text, /succeeded/);
  expectData(await partner.api.post("/v1/templates", { name: "Everything", share_fields: shareFields }), 201);
  const [event] = await done("listWebhookEvents");
  const [delivery] = await done("listWebhookDeliveries", { event_id: event.id });
  const given = { endpoint_id: endpoint.id, key_id: key.id, event_id: event.id, delivery_id: delivery.id };
  const answers = [created, first, finished];
  const { tools } = await client.listTools();
  for (const { name, inputSchema } of tools) {
    if (/^(create|finish|delete|register)/.test(name)) continue;
    const wanted = [...(inputSchema.required ?? [])].map((field) => [
      field,
      field === "id" ? id : given[field as keyof typeof given],
    ]);
    answers.push(await call(name, Object.fromEntries(wanted)));
  }
  assert.equal(answers.length, tools.length - 2, "every tool but two was called");
  const [line1 = "", line2 = ""] = testDocument("passport-valid", clock.now())?.mrzLines ?? [];
  const year = clock.now().getUTCFullYear() - 34;
  const claims = ["specimen", "olivia", line2.slice(0, 9), line1, line2, `${year}-08-12`];
  for (const { text } of answers)
    for (const claim of [...claims, "whsec_", "cancel_token", "signing_secret"])
      assert.ok(!text.toLowerCase().includes(claim.toLowerCase()), `${claim} in ${text}`);
});

test("a live session is never finished, and no live session is made by the tool for tests", async () => {
  const other = await createLivePartner(core, api);
  const { done, refused } = await connect(other.key.secret);
  const before = await done("createSession");
  const made = expectData(await other.api.get("/v1/sessions"));
  const refusal = await refused("createSession", { sandbox: true });
  assert.equal(refusal.code, "SANDBOX_KEY_REQUIRED");
  assert.deepEqual(expectData(await other.api.get("/v1/sessions")), made);
  const error = await refused("finishSandboxSession", { session_id: before.id });
  assert.equal(error.code, "SESSION_IS_LIVE");
  assert.match(error.message, /is live: only the person can finish it/);
  assert.equal(expectData(await other.api.get(`/v1/sessions/${before.id}`)).status, "created");
});

test("devices are bounded in number and time, and one that is aborted decides nothing", async () => {
  const { done } = await connect(partner.key.secret);
  const session = await done("createSession", { sandbox: true });
  const finish = {
    sessionId: session.id,
    by: { kind: "document", id: "passport-valid" },
    decline: [],
  } as const;
  // Takes connections and never says anything.
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const bothConnected = once(silent, "connection").then(() => once(silent, "connection"));
  const tenant = { organizationId: partner.organizationId, environment: "sandbox" } as const;
  const devices = new SandboxDevices(core, () => `http://127.0.0.1:${port}`);
  const gone = new AbortController();
  const start = () => devices.finish(tenant, finish, gone.signal);
  const under = [start(), start()].map((run) => run.catch((error: ApiError) => error.message));
  await bothConnected;
  await assert.rejects(start(), { code: "SERVICE_UNAVAILABLE", message: /Too many test sessions/ });
  gone.abort();
  const late = "The test device did not finish in time.";
  assert.deepEqual(await Promise.all(under), [late, late]);
  await assert.rejects(start(), { message: late }, "the slots are free again");
  const patient = devices.finish(tenant, finish, new AbortController().signal);
  const connected = once(silent, "connection");
  await Promise.race([connected, patient]);
  devices.stop();
  await assert.rejects(patient, { message: late }, "the service need not wait for devices when it ends");
  silent.close();

  const leaving = new AbortController();
  const document = testDocument("passport-valid", clock.now());
  assert.ok(document !== null);
  const run = runDevice({
    verificationUrl: session.verification_url,
    chip: virtualPassport(document),
    signal: leaving.signal,
    onStep: (step) => {
      if (step === "claim") setImmediate(() => leaving.abort());
    },
  });
  await assert.rejects(run, { name: "AbortError" });
  assert.equal((await done("getSession", { id: session.id })).status, "in_progress");
});

test("a refusal because others have taken every slot costs an organization none of its slots", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const devices = new SandboxDevices(core, () => `http://127.0.0.1:${port}`);
  const starter = async () => {
    const { api: own, organizationId } = await createPartner(api);
    const { id } = expectData(await own.post("/v1/sessions"), 201);
    const by = { kind: "document", id: "passport-valid" } as const;
    const finish = { sessionId: id, by, decline: [] };
    return (signal: AbortSignal) =>
      devices.finish({ organizationId, environment: "sandbox" }, finish, signal);
  };
  const others = [await starter(), await starter()];
  const refused = await starter();
  const gone = new AbortController();
  let connections = 0;
  silent.on("connection", () => {
    connections += 1;
  });
  const under = others.flatMap((start) => [start(gone.signal), start(gone.signal)]);
  for (const run of under) run.catch(() => {});
  await until("all slots are taken", () => connections === under.length);
  for (let i = 0; i < 3; i++)
    await assert.rejects(refused(gone.signal), { message: /Too many test sessions/ });
  gone.abort();
  await Promise.allSettled(under);
  await assert.rejects(refused(gone.signal), { message: /did not finish in time/ });
  silent.close();
});

test("the key of an organization that is to be deleted gets that refusal", async () => {
  const other = await createPartner(api);
  await core.db.run(
    sql`update organizations set pending_deletion_at = now() where id = ${other.organizationId}`,
  );
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const answer = await post(ping, { authorization: `Bearer ${other.key.secret}` });
  assert.deepEqual([answer.status, answer.body.error.code], [410, "ORGANIZATION_FROZEN"]);
});

test("a session of another organization does not exist", async () => {
  const other = await createPartner(api);
  const { id } = expectData(await other.api.post("/v1/sessions"), 201);
  const { refused } = await connect(partner.key.secret);
  assert.equal((await refused("getSession", { id })).code, "SESSION_NOT_FOUND");
  assert.equal((await refused("cancelSession", { id })).code, "SESSION_NOT_FOUND");
  assert.equal((await refused("finishSandboxSession", { session_id: id })).code, "SESSION_NOT_FOUND");
  assert.equal(expectData(await other.api.get(`/v1/sessions/${id}`)).status, "created");
});

test("arguments are checked by the route that they are for, and lead to no other", async () => {
  const { call, refused } = await connect(partner.key.secret);
  assert.equal((await refused("getSession", { id: "" })).code, "INVALID_SESSION_ID");
  assert.equal((await refused("getSession", { id: ".." })).code, "INVALID_SESSION_ID");
  assert.equal((await refused("getSession", {})).code, "INVALID_SESSION_ID");
  for (const keyId of [".", "..", "%2e%2e", "a/../../endpoints", "?x=1", "#"]) {
    const error = await refused("deactivateWebhookKey", { key_id: keyId });
    assert.equal(error.code, "NOT_FOUND", keyId);
    assert.doesNotMatch(error.message, /no such route/, keyId);
  }
  assert.match((await refused("createSession", { colour: "red" })).message, /`colour` is not a field/);
  assert.match((await refused("listSessions", { colour: "red" })).message, /`colour` is not a parameter/);
  assert.match((await refused("listSessions", { limit: [1] })).message, /`limit` must not be an object/);
  assert.match((await refused("listSessions", { limit: 0 })).message, /`limit` must be at least 1/);
  const unknown = `vs_${"0".repeat(64)}`;
  assert.match((await refused("cancelSession", { id: unknown, x: 1 })).message, /`x` is not a field/);
  assert.equal((await refused("createSession", { idempotency_key: "a b" })).code, "BAD_REQUEST");
  assert.equal((await refused("createSession", { idempotency_key: 1 })).code, "BAD_REQUEST");
  assert.equal((await call("listSessions", { limit: 1, status: null })).isError, false);
});

test("without a key that works there is nothing but 401", async () => {
  const message = { jsonrpc: "2.0", id: 1, method: "ping" };
  const bad = [{ authorization: "" }, { authorization: `Bearer kk_${"a".repeat(32)}` }];
  // Neither an access token nor the cookie of a user opens it.
  bad.push({ authorization: `Bearer ${partner.owner.token}` });
  for (const headers of [...bad, { authorization: "", cookie: `assay_session=${partner.owner.token}` }]) {
    const answer = await post(message, headers);
    assert.equal(answer.status, 401);
    assert.equal(
      answer.headers.get("www-authenticate"),
      `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`,
    );
    assert.equal(answer.body.error.code, "UNAUTHORIZED");
    assert.match(answer.body.error.hint, /kk_.*This service has no OAuth/);
  }
  await assert.rejects(connect(`kk_${"b".repeat(32)}`), /401|Unauthorized|credentials/i);
});

test("a host that knows only OAuth finds out what is wanted, and that there is no server for tokens", async () => {
  for (const path of ["", "/mcp"]) {
    const found = await fetch(`${url}/.well-known/oauth-protected-resource${path}`);
    assert.equal(found.status, 200);
    const metadata = (await found.json()) as Record<string, unknown>;
    assert.equal(metadata.resource, `${url}/mcp`);
    assert.equal("authorization_servers" in metadata, false);
    assert.deepEqual(metadata.bearer_methods_supported, ["header"]);
    assert.equal((await fetch(String(metadata.resource_documentation))).status, 200);
    const server = await fetch(`${url}/.well-known/oauth-authorization-server${path}`);
    assert.equal(server.status, 404);
    assert.match(await server.text(), /no authorization server.*Bearer kk_/);
  }
});

for (const mode of ["stateless", "legacy"] as const)
  test(`a client (${mode}) finds the guides for partners as resources, and reads them`, async () => {
    const { client } = await connect(await keyWith("sessions:read"), mode);
    const { resources } = await client.listResources();
    const guide = resources.find(({ name }) => name === "webhooks");
    const [, first] = /begin with `([\w-]+)`/.exec(client.getInstructions() ?? "") ?? [];
    assert.ok(
      resources.some(({ name }) => name === first),
      "the instructions name a guide that exists",
    );
    assert.equal(guide?.uri, `${url}/docs/webhooks.md`);
    assert.ok(!resources.some(({ name }) => name === "operating"), "guides for operators are not listed");
    for (const { uri } of resources) {
      const [content] = (await client.readResource({ uri })).contents as {
        text: string;
        mimeType?: string;
      }[];
      assert.equal(content?.mimeType, "text/markdown");
      assert.equal(content?.text, await (await fetch(uri)).text());
    }
    await assert.rejects(client.readResource({ uri: `${url}/docs/operating.md` }), /no such resource/);
    await client.close();
  });

test("a page of another site is refused, one of this service is not", async () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const foreign = await post(ping, { origin: "https://evil.example" });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.body.error.code, "FOREIGN_ORIGIN");
  assert.equal((await post(ping, { origin: url })).status, 200);
});

test("what is no message of the protocol is refused in terms of the protocol", async () => {
  const deep = (open: string, close: string, times: number) => `${open.repeat(times)}${close.repeat(times)}`;
  const call = (given: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"createSession","arguments":${given}}}`;
  const refusals: [what: string, body: unknown, code: number][] = [
    ["no JSON", "{", -32700],
    ["nothing", "", -32700],
    ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], -32600],
    ["an empty batch", [], -32600],
    ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "ping" }, -32600],
    ["a text", '"ping"', -32600],
    ["an id that is null", { jsonrpc: "2.0", id: null, method: "ping" }, -32600],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, -32600],
    ["an answer", { jsonrpc: "2.0", id: 1, result: {} }, -32600],
    ["params that are a list", { jsonrpc: "2.0", id: 1, method: "ping", params: [] }, -32600],
    ["half a character", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}', -32700],
    ["a prototype", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}', -32700],
    ["deep lists", deep("[", "]", 30_000), -32600],
  ];
  for (const [what, body, code] of refusals) {
    const answer = await post(body);
    assert.equal(answer.status, 400, what);
    assert.equal(answer.body.error.code, code, what);
    assert.equal("id" in answer.body && answer.body.id !== 1, false, what);
    assert.ok(answer.headers.get("x-request-id"));
  }
  const nested = await post(call(`{"metadata":${deep("[", "]", 30_000)}}`));
  assert.match(nested.body.result.content[0].text, /nested too deep/);
  assert.equal((await post("x".repeat(65 * 1024))).status, 413);
  assert.equal((await post("{}", { "content-type": "text/plain" })).status, 400);
  assert.equal((await fetch(`${url}/mcp`)).status, 405);
  assert.equal((await fetch(`${url}/mcp`, { method: "DELETE" })).headers.get("allow"), "OPTIONS, POST");
});

test("unknown methods and tools are answered differently from refused ones", async () => {
  const legacy = (method: string, params: object = {}) => post({ jsonrpc: "2.0", id: "a", method, params });
  assert.deepEqual((await legacy("ping")).body, { jsonrpc: "2.0", id: "a", result: {} });
  const unknown = await legacy("prompts/list");
  assert.deepEqual([unknown.status, unknown.body.error.code], [200, -32601]);
  for (const name of ["constructor", "revealWebhookSigningSecret", "rotateWebhookSigningSecret", 7])
    assert.equal((await legacy("tools/call", { name })).body.error.code, -32602);
  assert.equal((await legacy("tools/call", { name: "listSessions", arguments: [] })).body.error.code, -32602);
  assert.equal((await legacy("tools/list", { cursor: "x" })).body.error.code, -32602);
  assert.equal((await legacy("toString")).body.error.code, -32601);
  const notification = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  assert.deepEqual([notification.status, notification.body], [202, null]);
});

test("a client that says initialize gets a version that it knows, and no session", async () => {
  const open = (protocolVersion: string) =>
    post({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion, capabilities: {} } });
  for (const known of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    const answer = await open(known);
    assert.equal(answer.body.result.protocolVersion, known);
    assert.equal(answer.headers.get("mcp-session-id"), null);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const { tools } = (await post(list, { "mcp-protocol-version": known })).body.result;
    assert.equal(tools.length, 25);
    // A host puts it into the context of a model each time; with the schemas of answers it had 87 kB.
    assert.ok(JSON.stringify(tools).length <= 30_000, `${JSON.stringify(tools).length} characters`);
    assert.ok(tools.every((tool: object) => !("outputSchema" in tool)));
  }
  assert.equal((await open("1999-01-01")).body.result.protocolVersion, "2025-11-25");
  const wrong = await post(
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { "mcp-protocol-version": "1999-01-01" },
  );
  assert.deepEqual([wrong.status, wrong.body.error.code], [400, -32022]);
});

test("from 2026-07-28 on a request states its version, and contradicting headers are refused", async () => {
  const send = ({ body, headers }: ReturnType<typeof stateless>, changed: Record<string, string> = {}) =>
    post(body, { ...headers, ...changed });
  const discovered = await send(stateless("server/discover"));
  assert.equal(discovered.status, 200);
  assert.deepEqual(discovered.body.result.supportedVersions, [version]);
  assert.equal(discovered.body.result.resultType, "complete");
  const list = stateless("tools/call", { name: "listSessions" });
  assert.equal((await send(list)).body.result.resultType, "complete");
  const encoded = `=?base64?${Buffer.from("listSessions").toString("base64")}?=`;
  assert.equal((await send(list, { "mcp-name": encoded })).status, 200);
  for (const changed of [
    { "mcp-name": "getSession" },
    { "mcp-method": "tools/list" },
    { "mcp-protocol-version": "2025-11-25" },
  ]) {
    const answer = await send(list, changed);
    assert.deepEqual([answer.status, answer.body.error.code, answer.body.id], [400, -32020, 7]);
  }
  assert.equal((await post(list.body)).body.error.code, -32020);
  const future = await send(stateless("tools/list", {}, "2099-01-01"));
  assert.deepEqual([future.status, future.body.error.code], [400, -32022]);
  assert.ok(future.body.error.data.supported.includes(version));
  const bare = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const unmarked = await post(bare, { "mcp-protocol-version": version });
  assert.deepEqual([unmarked.status, unmarked.body.error.code], [400, -32602]);
  const gone = await send(stateless("ping"));
  assert.deepEqual([gone.status, gone.body.error.code], [404, -32601]);
});

test("a call counts once for its key, and the log names the route and no secret", async () => {
  const key = await createKey(partner.owner, ["sessions:read"]);
  const asKey = { authorization: `Bearer ${key.secret}` };
  const send = (method: string, params: object) => post({ jsonrpc: "2.0", id: 1, method, params }, asKey);
  logLines.length = 0;
  await send("tools/call", { name: "listSessions", arguments: { client_reference_id: "order-hidden" } });
  const lines = logLines.filter((line) => JSON.parse(line).requestId !== undefined);
  assert.deepEqual(lines.map((line) => JSON.parse(line).route).sort(), ["/mcp", "listSessions"]);
  const ids = lines.map((line) => JSON.parse(line).requestId);
  assert.equal(ids[0], ids[1], "both lines have the same request id");
  assert.ok(!logLines.join("").includes(key.secret) && !logLines.join("").includes("order-hidden"));
  await send("tools/list", {});
  await service.runJob("flush-key-usage");
  const keys = expectData<{ id: string; request_count: number }[]>(
    await partner.owner.api.get("/v1/auth/api-keys"),
  );
  assert.equal(keys.find(({ id }) => id === key.id)?.request_count, 2);
});

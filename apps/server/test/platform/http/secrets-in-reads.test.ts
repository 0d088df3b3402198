import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isWrite, type RouteDefinition } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { Secret, TOTP } from "otpauth";
import { grantOperator } from "../../../src/operations/operator/operator.store.ts";
import { secondMs } from "../../../src/platform/kernel/clock.ts";
import { knownId } from "../../../src/platform/kernel/ids.ts";
import { operationAt, readOperations } from "../../fuzz/operations.ts";
import { Wire, type WireAnswer } from "../../fuzz/wire.ts";
import { type Answer, Api, expectData } from "../../support/api.ts";
import { SoftwareAuthenticator } from "../../support/authenticator.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { furnishOrganization } from "../../support/furnished-organization.ts";
import { latestToken } from "../../support/mailed-links.ts";
import { readMails } from "../../support/mails.ts";
import { pathOf, type Schema } from "../../support/route-samples.ts";
import { startTestService } from "../../support/service.ts";
import { agree, claimWith, handOff, startVerification } from "../../support/verify.ts";

/**
 * Answers to reads are compressed, and a compressed size can reveal a secret (BREACH), so only writes show
 * secrets. Field names say which. Every such write is carried out here, then every read.
 */

/** A name that a secret would have. */
const secretName = /^(?!has_)(.*_)?(token|secret|password)$|^key$|^backup_codes$|^otpauth_uri$|^handoff_url$/;

/**
 * Capabilities that reads have to show. The id of a session opens the person's page, and the contract has it
 * in every read of a session. Answers to requests from other sites are never compressed.
 */
const capabilities: Readonly<Record<string, string>> = {
  listSessions: "id and verification_url",
  getSession: "id and verification_url",
  listAttempts: "session_id",
  listWebhookEvents: "session_id, in the events of a session",
  getWebhookEvent: "session_id, in the events of a session",
  listAuditLogs: "target_id, in the entries about a session",
  listApiRequests: "path, in the requests about a session",
  getVerifyDetails: "id; the caller has it in the address",
  getVerifyStatus: "session_id; the caller has it in the address",
  streamVerifyEvents: "session_id; the caller has it in the address",
};

function secretFields(schema: Schema | undefined, path = ""): string[] {
  if (schema === undefined) return [];
  const inner = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
      ...(secretName.test(name) ? [`${path}.${name}`] : []),
      ...secretFields(property, `${path}.${name}`),
    ]),
    ...(schema.anyOf ?? []).flatMap((choice) => secretFields(choice, path)),
    ...secretFields(schema.items, path),
  ];
  const { additionalProperties } = schema as { additionalProperties?: boolean | Schema };
  return typeof additionalProperties === "object"
    ? [...inner, ...secretFields(additionalProperties, path)]
    : inner;
}

function replyOf({ reply }: RouteDefinition): Schema | undefined {
  if ("data" in reply) return reply.data as Schema;
  if ("list" in reply) return reply.list as Schema;
  return "events" in reply ? (reply.events as Schema) : undefined;
}

const dns = await startDnsServer();
const origin = "http://localhost:3000";
const service = await startTestService({
  env: {
    DNS_RESOLVERS: dns.address,
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    PUBLIC_URL: origin,
  },
});
const { api, clock, url } = service;
const document = await (await fetch(`${url}/openapi`)).json();
const operations = readOperations(document as Record<string, unknown>);

/** What writes have shown, by the operation that did. */
const shown = new Map<string, Set<string>>();

/** Notes the secrets in every answer to a write that this file's callers get. */
function noteSecrets(method: string, target: string, body: unknown): void {
  const operation = operationAt(operations, method, target);
  if (operation === null || operation.method === "GET") return;
  const note = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(note);
    else if (typeof value === "string")
      shown.set(operation.id, (shown.get(operation.id) ?? new Set()).add(value));
  };
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (secretName.test(name)) note(inner);
      walk(inner);
    }
  };
  walk((body as { data?: unknown }).data);
}

const plainFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const answer = await plainFetch(input, init);
  const { pathname } = new URL(String(input));
  if (answer.headers.get("content-type")?.includes("json"))
    noteSecrets(init?.method ?? "GET", pathname, await answer.clone().json());
  return answer;
};
const plainCall = Api.prototype.call;
Api.prototype.call = async function <T>(this: Api, ...given: Parameters<Api["call"]>) {
  const answer = await plainCall.apply(this, given);
  noteSecrets(given[0], new URL(given[1], url).pathname, answer.body);
  return answer as Answer<T>;
};
after(() => {
  globalThis.fetch = plainFetch;
  Api.prototype.call = plainCall;
});

const stepMs = 30 * secondMs;
const codeOf = (secret: string) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now().getTime() });

/** Carries out every write that shows a secret, and asks for every mail that holds one. */
async function showEverySecret() {
  const { owner, api: partner, things } = await furnishOrganization(service, dns);
  await grantOperator(service.core.db, knownId(owner.userId), clock.now());
  const { email, password } = owner;
  expectData(await api.post("/v1/auth/sign-in/email", { email, password }));
  expectData(await owner.api.post("/v1/auth/account/email", { email: `new-${email}`, password }), 202);
  expectData(await api.post("/v1/auth/password/forgot", { email }), 202);
  expectData(await api.post("/v1/auth/sign-in/magic-link", { email }), 202);
  const token = await latestToken(service, email, "magic-link");
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token }));

  const authenticator = new SoftwareAuthenticator(origin);
  const creation = expectData(await owner.api.post("/v1/auth/passkeys/options", { password }));
  const response = authenticator.create(creation.options);
  expectData(await owner.api.post("/v1/auth/passkeys", { name: "Laptop", response }), 201);
  const request = expectData(await api.post("/v1/auth/sign-in/passkey/options"));
  expectData(
    await api.post("/v1/auth/sign-in/passkey/verify", { response: authenticator.get(request.options) }),
  );

  const { secret } = expectData(await owner.api.post("/v1/auth/account/totp/start", { password }));
  expectData(await owner.api.post("/v1/auth/account/totp/confirm", { code: codeOf(secret) }));
  clock.advance(2 * stepMs);
  expectData(await owner.api.post("/v1/auth/account/totp/backup-codes", { code: codeOf(secret) }));

  const endpoint = `/v1/webhooks/endpoints/${things.endpointId}/signing-secret`;
  expectData(await owner.api.post(`${endpoint}/reveal`));
  expectData(await owner.api.post(`${endpoint}/rotate`));

  const session = await startVerification(partner);
  const { cancel_token: cancelToken } = await agree(api, session.id);
  expectData(await claimWith(api, session.id, await handOff(api, session.id), "device"), 201);

  const { organizationId } = things;
  expectData(await owner.api.post("/v1/auth/orgs/request-delete", { organizationId }), 202);
  await service.runJob("answer-mail-requests");
  const mails = await readMails(service);
  const mailed = mails.flatMap(({ text }) =>
    [...text.matchAll(/(?:token=|invitations\/)([A-Za-z0-9]{43})|^\s*([A-Z0-9]{8})\s*$/gm)].map(
      ([, link, code]) => link ?? code ?? "",
    ),
  );
  const invitation = /invitations\/([A-Za-z0-9]{43})/.exec(mails.map(({ text }) => text).join("\n"))?.[1];
  assert.ok(invitation !== undefined);
  assert.ok(new Set(mailed).size >= 5, "links to sign in, reset, verify and join, and a code");
  return {
    owner,
    partner,
    cancelToken,
    listenerId: things.listenerId,
    templateId: things.templateId,
    secrets: new Set([password, ...mailed, ...[...shown.values()].flatMap((values) => [...values])]),
    ids: {
      ...{ endpoint_id: things.endpointId, event_id: things.eventId, delivery_id: things.deliveryId },
      ...{ id: session.id as string, token: invitation },
    },
  };
}

const made = await showEverySecret();
const wire = new Wire(url);
after(() => wire.close());

const callers: readonly [who: string, headers: readonly (readonly [string, string])[]][] = [
  ["the owner", [["authorization", `Bearer ${made.owner.token}`]]],
  ["the owner, by cookie", [["cookie", `assay_session=${made.owner.token}`]]],
  ["the key", [["authorization", `Bearer ${[...(shown.get("createApiKey") ?? [])].at(0)}`]]],
  ["the person", [["authorization", `Bearer ${made.cancelToken}`]]],
];

function read(
  route: RouteDefinition,
  headers: readonly (readonly [string, string])[],
): Promise<WireAnswer | null> {
  const ids = route.path.startsWith("/v1/webhooks/listeners/")
    ? { ...made.ids, endpoint_id: made.listenerId }
    : route.path.startsWith("/v1/templates/")
      ? { ...made.ids, id: made.templateId }
      : made.ids;
  const path = pathOf(route, (name) => ids[name as keyof typeof ids] ?? null);
  const query = route.path.endsWith("/search") ? "?text=e" : "list" in route.reply ? "?limit=100" : "";
  return wire.send({ method: "GET", target: `${path}${query}`, headers, body: null });
}

test("no read declares a field with the name of a secret", () => {
  for (const route of routes.filter((candidate) => !isWrite(candidate)))
    assert.deepEqual(secretFields(replyOf(route)), [], route.id);
});

test("every write that shows a secret was carried out", () => {
  const declared = routes.filter((route) => isWrite(route) && secretFields(replyOf(route)).length > 0);
  assert.deepEqual([...shown.keys()].sort(), declared.map(({ id }) => id).sort());
  assert.ok(declared.length >= 15);
});

for (const route of routes.filter((candidate) => !isWrite(candidate))) {
  test(`GET ${route.path} shows no secret to any reader`, async () => {
    const statuses: number[] = [];
    for (const [who, headers] of callers) {
      const answer = await read(route, [...headers, ["accept-encoding", "br"]]);
      assert.ok(answer !== null, who);
      statuses.push(answer.status);
      const text = answer.body.toString("utf8");
      for (const secret of made.secrets) assert.ok(!text.includes(secret), `${who} gets a secret`);
      if (answer.status < 300 && text.includes(made.ids.id))
        assert.ok(route.id in capabilities, `${route.id} shows the identifier of a session`);
    }
    // Otherwise nothing was checked. A socket is no read, and this organization has no logo.
    const readable = !["openVerifySocket", "getVerifyLogo", "readLogo"].includes(route.id);
    assert.equal(
      statuses.some((status) => status === 200),
      readable,
      statuses.join(),
    );
  });
}

for (const id of Object.keys(capabilities)) {
  test(`${id} is not compressed when another site causes it: it shows ${capabilities[id]}`, async () => {
    const route = routes.find((candidate) => candidate.id === id);
    assert.ok(route !== undefined);
    for (const site of ["cross-site", "same-site"])
      for (const [who, headers] of callers) {
        const answer = await read(route, [
          ...headers,
          ["accept-encoding", "gzip, br"],
          ["sec-fetch-site", site],
        ]);
        assert.equal(answer?.headers.get("content-encoding"), undefined, who);
      }
  });
}

test("answers to writes are not compressed, however long", async () => {
  const share = Object.fromEntries(
    ["given_names", "family_name", "date_of_birth", "nationality_code"].map((name) => [
      name,
      { required: true, reason: "x".repeat(200) },
    ]),
  );
  const caller: Api = made.partner;
  const answer: Answer = await caller.call("POST", "/v1/sessions", {
    body: { share_fields: share },
    headers: { "accept-encoding": "gzip, br" },
  });
  assert.ok(expectData(answer, 201).cancel_token);
  assert.equal(answer.headers.get("content-encoding"), null);
});

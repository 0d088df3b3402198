import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import { isInEnvironment, isWrite, type RouteDefinition, type Scope, scopes } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { Sql, sql } from "../../../src/platform/db/sql.ts";
import { dayMs, later } from "../../../src/platform/kernel/clock.ts";
import { randomText } from "../../../src/platform/kernel/ids.ts";
import { deleteApiKey, updateApiKey } from "../../../src/tenants/api-keys/api-key.store.ts";
import { setPendingDeletion } from "../../../src/tenants/organizations/deletion.store.ts";
import { insertMembership } from "../../../src/tenants/organizations/member.store.ts";
import type { Answer, Api } from "../../support/api.ts";
import { createKeyRow, createOrganization, createPerson } from "../../support/cast.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { furnishOrganization } from "../../support/furnished-organization.ts";
import { openLive } from "../../support/live.ts";
import { registration } from "../../support/receiver.ts";
import { bodyOf, pathOf, type Schema } from "../../support/route-samples.ts";
import { startTestService } from "../../support/service.ts";
import { tally } from "../../support/tally.ts";

/**
 * Every declared route, called by everyone outside of an organization with its identifiers: no one sees or
 * changes anything of it. Everything is in the sandbox, so its owner and key count as foreigners in live. An
 * identifier that the table does not know fails.
 */
const dns = await startDnsServer();
const service = await startTestService({
  role: "api",
  env: { DNS_RESOLVERS: dns.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const { api, core } = service;
const target = await furnishOrganization(service, dns);
const { things } = target;
await openLive(core, things.organizationId);

// --- who calls ---------------------------------------------------------------------------------------------

/** Unknown callers, keys without the scope, and people and keys of other organizations. */
const foreigners = [
  "nobody",
  "garbage token",
  "garbage key",
  "disabled key",
  "deleted key",
  "key without scopes",
  "key with every other scope",
  "stranger",
  "removed member",
  "other member",
  "other admin",
  "other owner",
  "other key",
  "frozen owner",
  "frozen key",
  "owner in live",
  "key of live",
] as const;
type Foreigner = (typeof foreigners)[number];

/** Until one of them has written something: what it may do to itself must not affect the next route. */
let people: Promise<Record<Foreigner, Api>> | null = null;

async function castFor(route: RouteDefinition): Promise<Record<Foreigner, Api>> {
  const needed: Scope | null = "scope" in route.access ? route.access.scope : null;
  people ??= cast();
  return { ...(await people), "key with every other scope": ownKeys.without(needed) };
}

async function cast(): Promise<Record<Foreigner, Api>> {
  const now = core.clock.now();
  const removed = await removedMember();
  return core.db.transaction(async (tx) => {
    const person = () => createPerson(tx, api, now);
    const key = (of: OrganizationId, held: readonly Scope[]) =>
      createKeyRow(tx, { api, core }, now, of, held);
    const [owner, admin, member] = [await person(), await person(), await person()];
    const otherId = await createOrganization(tx, core, now, { owner, admin, member });
    const frozenOwner = await person();
    const frozenId = await createOrganization(tx, core, now, { owner: frozenOwner });
    await setPendingDeletion(tx, frozenId, later(now, dayMs), now);
    return {
      nobody: api,
      "garbage token": api.as(randomText(43)),
      "garbage key": api.as(`kk_${randomText(32)}`),
      "disabled key": spentKeys.disabled,
      "deleted key": spentKeys.deleted,
      "key without scopes": ownKeys.none,
      "key with every other scope": ownKeys.none,
      stranger: (await person()).api,
      "removed member": removed,
      "other member": member.api,
      "other admin": admin.api,
      "other owner": owner.api,
      "other key": (await key(otherId, scopes)).api,
      "frozen owner": frozenOwner.api,
      "frozen key": (await key(frozenId, scopes)).api,
      "owner in live": target.owner.api.in("live"),
      "key of live": ownKeys.live,
    };
  });
}

/** Keys of the organization itself, created before anything is compared, because they belong to it. */
const { ownKeys, spentKeys } = await core.db.transaction(async (tx) => {
  const now = core.clock.now();
  const sandbox = { organizationId: things.organizationId, environment: "sandbox" } as const;
  const key = (held: readonly Scope[]) => createKeyRow(tx, { api, core }, now, things.organizationId, held);
  const none = (await key([])).api;
  const without = new Map<Scope | null, Api>();
  for (const scope of [null, ...scopes])
    without.set(scope, (await key(scopes.filter((each) => each !== scope))).api);
  const live = await createKeyRow(tx, { api, core }, now, things.organizationId, scopes, "live");
  const disabled = await key(scopes);
  await updateApiKey(tx, sandbox, disabled.id, {
    name: undefined,
    scopes: undefined,
    enabled: false,
    now,
  });
  const deleted = await key(scopes);
  await deleteApiKey(tx, sandbox, deleted.id);
  return {
    ownKeys: { none, live: live.api, without: (scope: Scope | null) => without.get(scope) ?? none },
    spentKeys: { disabled: disabled.api, deleted: deleted.api },
  };
});

/** A former owner who worked in the organization and is still signed in. */
async function removedMember(): Promise<Api> {
  const now = core.clock.now();
  const person = await core.db.transaction(async (tx) => {
    const made = await createPerson(tx, api, now);
    await insertMembership(tx, things.organizationId, made.userId, "owner", now);
    await tx.run(sql`
      update user_sessions set active_organization_id = ${things.organizationId} where user_id = ${made.userId}`);
    return made;
  });
  assert.equal((await person.api.get("/v1/auth/orgs/members")).status, 200, "was let in");
  await core.db.run(sql`delete from memberships where user_id = ${person.userId}`);
  return person.api;
}

// --- what they get -----------------------------------------------------------------------------------------

/** How routes differ for outsiders. `in body`: the body names the organization. */
type Kind =
  | "public"
  | "user"
  | "member reads"
  | "member writes"
  | "admin reads"
  | "admin writes"
  | "owner reads"
  | "owner writes"
  | "in body"
  | "key reads"
  | "key writes"
  | "operator";

/** `own`: let in to what is their own, where the identifiers of others name nothing. */
type Expected = "401" | "403" | "410" | "400 ORGANIZATION_REQUIRED" | "404" | "own";

const kinds: readonly Kind[] = [
  "public",
  "user",
  "member reads",
  "member writes",
  "admin reads",
  "admin writes",
  "owner reads",
  "owner writes",
  "in body",
  "key reads",
  "key writes",
  "operator",
];

const none = "400 ORGANIZATION_REQUIRED";
// biome-ignore format: read as a table, with the kinds above as its columns.
const table: Record<Foreigner, readonly Expected[]> = {
  nobody:                       ["own", "401", "401", "401", "401", "401", "401", "401", "401", "401", "401", "404"],
  "garbage token":              ["own", "401", "401", "401", "401", "401", "401", "401", "401", "401", "401", "404"],
  "garbage key":                ["own", "401", "401", "401", "401", "401", "401", "401", "401", "401", "401", "404"],
  "disabled key":               ["own", "401", "401", "401", "401", "401", "401", "401", "401", "401", "401", "404"],
  "deleted key":                ["own", "401", "401", "401", "401", "401", "401", "401", "401", "401", "401", "404"],
  "key without scopes":         ["own", "403", "403", "403", "403", "403", "403", "403", "403", "403", "403", "404"],
  "key with every other scope": ["own", "403", "403", "403", "403", "403", "403", "403", "403", "403", "403", "404"],
  stranger:                     ["own", "own", none,  none,  none,  none,  none,  none,  "404", none,  none, "404"],
  "removed member":             ["own", "own", none,  none,  none,  none,  none,  none,  "404", none,  none, "404"],
  "other member":               ["own", "own", "own", "own", "403", "403", "403", "403", "404", "own", "403", "404"],
  "other admin":                ["own", "own", "own", "own", "own", "own", "403", "403", "404", "own", "own", "404"],
  "other owner":                ["own", "own", "own", "own", "own", "own", "own", "own", "404", "own", "own", "404"],
  "other key":                  ["own", "403", "403", "403", "403", "403", "403", "403", "403", "own", "own", "404"],
  "frozen owner":               ["own", "own", "own", "410", "own", "410", "own", "410", "404", "own", "410", "404"],
  "frozen key":                 ["own", "410", "410", "410", "410", "410", "410", "410", "410", "410", "410", "404"],
  // On the routes whose things belong to an environment; what the environments share is theirs.
  "owner in live":              ["own", "own", "own", "own", "own", "own", "own", "own", "own", "own", "own", "404"],
  "key of live":                ["own", "403", "403", "403", "403", "403", "403", "403", "403", "own", "own", "404"],
};

function kindOf(route: RouteDefinition): Kind {
  const { access } = route;
  if ("public" in access) return "public";
  if ("user" in access) return "user";
  if ("operator" in access) return "operator";
  if ("scope" in access) return access.scope.endsWith(":write") ? "key writes" : "key reads";
  if (access.organization === "body") return "in body";
  return `${access.role} ${isWrite(route) ? "writes" : "reads"}`;
}

/** Routes that a frozen organization refuses although they only read; the contract says so on the route. */
const refusedWhileFrozen = new Set(["listDomains"]);

function expected(route: RouteDefinition, foreigner: Foreigner): Expected {
  if (foreigner === "frozen owner" && refusedWhileFrozen.has(route.id)) return "410";
  return table[foreigner][kinds.indexOf(kindOf(route))] ?? assert.fail();
}

function readVerdict(answer: Answer): Exclude<Expected, "404"> {
  const read = `${answer.status} ${answer.body?.error?.code}`;
  // Sign-in refuses wrong credentials with the same code; without a challenge it is not about who calls.
  if (read === "401 UNAUTHORIZED") return answer.headers.has("www-authenticate") ? "401" : "own";
  if (["403 API_KEY_NOT_ALLOWED", "403 FORBIDDEN", "403 ROLE_REQUIRED"].includes(read)) return "403";
  if (read === "410 ORGANIZATION_FROZEN") return "410";
  return read === none ? none : "own";
}

// --- with what ---------------------------------------------------------------------------------------------

/** Whose identifier a parameter takes. Null: a secret of its holder (a link), unknown here. */
const inPath: Readonly<Record<string, string | null>> = {
  "/v1/auth/account/sessions/:id": things.userSessionId,
  "/v1/auth/api-keys/:id": things.apiKeyId,
  "/v1/auth/orgs/domains/:id": things.domainId,
  "/v1/auth/orgs/invitations/:id": things.invitationId,
  "/v1/auth/orgs/members/:id": things.memberId,
  "/v1/auth/orgs/redirect-uris/:id": things.redirectUriId,
  "/v1/auth/orgs/sessions/:id": things.sessionId,
  "/v1/auth/passkeys/:id": things.passkeyId,
  "/v1/auth/invitations/:token": null,
  "/v1/sessions/:id": things.sessionId,
  "/v1/templates/:id": things.templateId,
  "/v1/verify/session/:id": null,
  "/v1/webhooks/endpoints/:endpoint_id": things.endpointId,
  "/v1/webhooks/deliveries/:delivery_id": things.deliveryId,
  "/v1/webhooks/events/:event_id": things.eventId,
  "/v1/webhooks/listeners/:endpoint_id": things.listenerId,
  "/v1/webhooks/listeners/:endpoint_id/deliveries/:delivery_id": things.deliveryId,
  "/v1/webhooks/keys/:key_id": things.encryptionKeyId,
};

/** Fields of bodies and queries with identifiers. Null: chosen by the caller. */
const inFields: Readonly<Record<string, string | null>> = {
  organizationId: things.organizationId,
  challenge_id: things.challengeId,
  webhook_endpoint_id: things.endpointId,
  endpoint_id: things.endpointId,
  template: things.templateId,
  event_id: things.eventId,
  session_id: things.claimedSessionId,
  actor_id: things.userId,
  api_key_id: things.apiKeyId,
  client_reference_id: null,
  device_id: null,
  key_id: null,
  // Only the browser that asked a wallet knows it; of the API log it is whatever a client chose.
  request_id: null,
};

function idInPath(path: string, name: string): string | null {
  const place = path.slice(0, path.indexOf(`:${name}`) + name.length + 1);
  assert.ok(Object.hasOwn(inPath, place), `the matrix does not know whose id ${place} takes`);
  return inPath[place] ?? null;
}

/** Every field that names something of the organization, as far as the schema has one. */
function idsIn(schema: RouteDefinition["body"] | RouteDefinition["query"]): Record<string, string> {
  const names = Object.keys((schema as Schema | undefined)?.properties ?? {});
  const naming = names.filter((name) => /(_id|Id)s?$|^template$/.test(name));
  for (const name of naming)
    assert.ok(Object.hasOwn(inFields, name), `the matrix does not know what the field ${name} names`);
  return Object.fromEntries(
    naming.flatMap((name) => {
      const id = inFields[name] ?? null;
      return id === null ? [] : [[name, id]];
    }),
  );
}

/** A complete body where the contract's example is shortened. */
const goodBodies: Readonly<Record<string, Record<string, unknown>>> = {
  "/v1/webhooks/endpoints/:endpoint_id/keys": registration("foreign"),
  "/v1/webhooks/listeners": { encryption_key: registration("foreign") },
};

type Call = { path: string; body: Record<string, unknown> | null; query: Record<string, string> };

function callOf(route: RouteDefinition): Call {
  const path = pathOf(route, (name) => idInPath(route.path, name));
  const query = idsIn(route.query);
  if (route.body === undefined) return { path, body: null, query };
  const sampled = goodBodies[route.path] ?? (bodyOf(route, things.organizationId) as Record<string, unknown>);
  return { path, body: { ...sampled, ...idsIn(route.body) }, query };
}

// --- what must stay ----------------------------------------------------------------------------------------

/** Every table with rows of organizations or of users, and how to find those of ours. */
const watched = await core.db.rows<{ table: string; column: string }>(sql`
  select c.table_name as table, min(c.column_name) as column from information_schema.columns c
  join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name in ('organization_id', 'user_id')
    and c.table_name <> 'api_requests'
  group by c.table_name`);

const snapshotSql = new Sql(
  [
    [{ table: "organizations", column: "id" }, { table: "users", column: "id" }, ...watched]
      .map(
        ({ table: name, column }) =>
          // A refused key is still counted and logged; nothing else may change. Rows created in live are not
          // of the sandbox, and an encryption key is in the environment of its endpoint.
          `select '${name}' as name, (to_jsonb(t) - 'last_used_at' - 'request_count')::text as row from "${name}" t where t.${column}::text in ('${things.organizationId}', '${things.userId}') and (to_jsonb(t) ->> 'sandbox') is distinct from 'false' and not exists (select from webhook_endpoints e where '${name}' = 'webhook_keys' and e.id = to_jsonb(t) ->> 'endpoint_id' and not e.sandbox)`,
      )
      .join(" union all "),
  ],
  [],
);

async function snapshot(): Promise<Set<string>> {
  const rows = await core.db.rows<{ name: string; row: string }>(snapshotSql);
  return new Set(rows.map(({ name, row }) => `${name} ${row}`));
}

const before = await snapshot();
async function changes(): Promise<string[]> {
  const now = await snapshot();
  return [...[...now].filter((row) => !before.has(row)), ...[...before].filter((row) => !now.has(row))];
}
const mailsBefore = await core.db.rows<{ id: string }>(sql`select id::text as id from mails`);
/** Owners get a mail about every new destination of live results, which is no change of the sandbox. */
async function forgetMails(): Promise<void> {
  const known = mailsBefore.map(({ id }) => id);
  await core.db.run(sql`delete from mails where id::text <> all(${known})`);
}
const secrets = [...Object.values(things), ...target.words];
/** What both environments of the organization may know. */
const shared = new Set<string>([things.organizationId, things.userId]);
const isOwn = (name: Foreigner) => name === "owner in live" || name === "key of live";

// --- the matrix --------------------------------------------------------------------------------------------

for (const route of routes) {
  test(`${route.method} ${route.path} shows and does nothing of another organization`, async () => {
    const call = callOf(route);
    const namesTheirs = Object.values(things).some((id) => call.path.includes(id));
    const bodyNamesTheirs = Object.values(things).some((id) => JSON.stringify(call.body).includes(id));
    const sent = JSON.stringify(call);
    for (const [name, caller] of Object.entries(await castFor(route)) as [Foreigner, Api][]) {
      if (isOwn(name) && !isInEnvironment(route)) continue;
      // Before mails are forgotten.
      if (name === "owner in live")
        assert.deepEqual(await changes(), [], "nothing of the organization has changed");
      const answer = await caller.call(route.method, call.path, {
        query: call.query,
        ...(call.body === null ? {} : { body: call.body }),
      });
      if (isWrite(route) && answer.status < 400) people = null;
      tally("requests from outside the organization");
      if (isOwn(name)) await forgetMails();
      const seen = `${name}: ${answer.status} ${answer.text.slice(0, 300)}`;
      const wanted = expected(route, name);
      assert.ok(answer.status < 500, seen);
      if (wanted === "404") assert.equal(answer.status, 404, seen);
      else assert.equal(readVerdict(answer), wanted, seen);
      if (wanted === "own" && namesTheirs) assert.equal(answer.status, 404, seen);
      if (wanted === "own" && bodyNamesTheirs)
        assert.ok(answer.status >= 400, `${seen}: something of theirs was taken`);
      // The API log of live shows what its own keys asked for, here identifiers of the sandbox.
      const isLog = route.id === "listApiRequests";
      const hidden = (text: string) => !isOwn(name) || !(isLog || shared.has(text));
      for (const secret of secrets.filter(hidden))
        assert.ok(!answer.text.includes(secret) || sent.includes(secret), `${seen} shows ${secret}`);
      if (answer.status < 400)
        for (const id of Object.values(things).filter(hidden))
          assert.ok(!answer.text.includes(id), `${seen} shows ${id}`);
    }
    assert.deepEqual(await changes(), [], "nothing of the organization has changed");
  });
}

test("the matrix would see a change and a leak: the owner's own calls fail it", async () => {
  const listed = await target.owner.api.get("/v1/auth/api-keys");
  assert.ok(secrets.some((secret) => listed.text.includes(secret)));
  const renamed = await target.owner.api.patch(`/v1/auth/api-keys/${things.apiKeyId}`, { name: "renamed" });
  assert.equal(renamed.status, 200);
  assert.notDeepEqual(await changes(), []);
});

test("every place in a path and every foreigner of the table is used", () => {
  const places = new Set(
    routes.flatMap((route) =>
      [...route.path.matchAll(/:[a-z_]+/g)].map((match) =>
        route.path.slice(0, (match.index ?? 0) + match[0].length),
      ),
    ),
  );
  assert.deepEqual([...places].sort(), Object.keys(inPath).sort());
  assert.deepEqual(Object.keys(table).sort(), [...foreigners].sort());
  for (const row of Object.values(table)) assert.equal(row.length, kinds.length);
});

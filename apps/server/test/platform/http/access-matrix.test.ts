import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import {
  bodyLimitOf,
  errorsOf,
  hasRole,
  isList,
  isWrite,
  type Role,
  type RouteDefinition,
  roleForScope,
  type Scope,
  scopes,
} from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { Check } from "typebox/value";
import { dayMs, later } from "../../../src/platform/kernel/clock.ts";
import { setPendingDeletion } from "../../../src/tenants/organizations/deletion.store.ts";
import type { Answer, Api } from "../../support/api.ts";
import { createKeyRow, createOrganization, createPerson } from "../../support/cast.ts";
import { bodyOf, nobodysUuid, pathOf } from "../../support/route-samples.ts";
import { startTestService } from "../../support/service.ts";
import { tally } from "../../support/tally.ts";

/**
 * Every route of the contract, called by every kind of caller. Each is admitted or refused exactly as the
 * route's `access` says. Declared routes are included; nothing here names one.
 */

const { api, core } = await startTestService();

type Verdict =
  | "admitted"
  | "401 UNAUTHORIZED"
  | "403 API_KEY_NOT_ALLOWED"
  | "403 FORBIDDEN"
  | "403 ROLE_REQUIRED"
  | "410 ORGANIZATION_FROZEN"
  | "400 ORGANIZATION_REQUIRED"
  | "404 NOT_FOUND";

type Caller =
  | { kind: "nobody" }
  /** `role` in the organization that the request names or that is active; null for none there. */
  | { kind: "user"; active: Role | null; named: Role | null; frozen: boolean }
  | { kind: "key"; scopes: readonly Scope[]; frozen: boolean };

/** What `Access` promises, written a second time from its description and not from its implementation. */
function promised(route: RouteDefinition, caller: Caller): Verdict {
  const { access } = route;
  if ("public" in access) return "admitted";
  // No caller here is an operator; `operator.test.ts` has some.
  if ("operator" in access) return "404 NOT_FOUND";
  if (caller.kind === "nobody") return "401 UNAUTHORIZED";
  if (caller.kind === "key") {
    if (caller.frozen) return "410 ORGANIZATION_FROZEN";
    if (!("scope" in access)) return "403 API_KEY_NOT_ALLOWED";
    return caller.scopes.includes(access.scope) ? "admitted" : "403 FORBIDDEN";
  }
  if ("user" in access) return "admitted";
  const namesOne = "role" in access && access.organization === "body";
  const role = namesOne ? caller.named : caller.active;
  if (role === null) return namesOne ? "404 NOT_FOUND" : "400 ORGANIZATION_REQUIRED";
  if (!hasRole(role, "role" in access ? access.role : roleForScope(access.scope))) return "403 ROLE_REQUIRED";
  const refusing = access.whileFrozen === "refused" || (access.whileFrozen !== "allowed" && isWrite(route));
  return caller.frozen && refusing ? "410 ORGANIZATION_FROZEN" : "admitted";
}

/** The meaning of an answer: one of the refusals, or admitted, whatever the result. */
function verdictOf(answer: Answer, route: RouteDefinition, caller: Caller): Verdict {
  const read = `${answer.status} ${answer.body.error?.code}`;
  const namesOne = "role" in route.access && route.access.organization === "body";
  switch (read) {
    case "401 UNAUTHORIZED":
      // Sign-in refuses wrong credentials with the same code; without a challenge it is not about who calls.
      return answer.headers.has("www-authenticate") ? read : "admitted";
    case "403 API_KEY_NOT_ALLOWED":
    case "403 FORBIDDEN":
    case "403 ROLE_REQUIRED":
    case "410 ORGANIZATION_FROZEN":
    case "400 ORGANIZATION_REQUIRED":
      return read;
    case "404 NOT_FOUND":
      return "operator" in route.access || (namesOne && caller.kind === "user" && caller.named === null)
        ? read
        : "admitted";
    default:
      return "admitted";
  }
}

type Actor = { name: string; api: Api; caller: Caller; organizationId: OrganizationId };

function cast(): Promise<Actor[]> {
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    const [owner, admin, member] = [
      await createPerson(tx, api, now),
      await createPerson(tx, api, now),
      await createPerson(tx, api, now),
    ];
    const organizationId = await createOrganization(tx, core, now, { owner, admin, member });
    const other = await createPerson(tx, api, now);
    await createOrganization(tx, core, now, { owner: other });
    const stranger = await createPerson(tx, api, now);
    const [frozenOwner, frozenMember] = [await createPerson(tx, api, now), await createPerson(tx, api, now)];
    const frozenId = await createOrganization(tx, core, now, { owner: frozenOwner, member: frozenMember });
    await setPendingDeletion(tx, frozenId, later(now, dayMs), now);

    const actors: Actor[] = [{ name: "nobody", api, caller: { kind: "nobody" }, organizationId }];
    const add = (name: string, caller: Caller, as: Api, id = organizationId) =>
      actors.push({ name, api: as, caller, organizationId: id });
    for (const held of [[], ...scopes.map((scope) => [scope])]) {
      const key = await createKeyRow(tx, { api, core }, now, organizationId, held);
      add(`key with ${held.join() || "no scope"}`, { kind: "key", scopes: held, frozen: false }, key.api);
    }
    const frozenKey = await createKeyRow(tx, { api, core }, now, frozenId, scopes);
    add("frozen key", { kind: "key", scopes, frozen: true }, frozenKey.api, frozenId);
    const user = (active: Role | null, named = active, frozen = false): Caller => ({
      kind: "user",
      active,
      named,
      frozen,
    });
    add("stranger", user(null), stranger.api);
    add("other organization's owner", user("owner", null), other.api);
    add("member", user("member"), member.api);
    add("admin", user("admin"), admin.api);
    add("owner", user("owner"), owner.api);
    add("frozen member", user("member", "member", true), frozenMember.api, frozenId);
    // Last, because it may end the freeze.
    add("frozen owner", user("owner", "owner", true), frozenOwner.api, frozenId);
    return actors;
  });
}

/**
 * People and keys, until one of them has written something. What one of them may do (leave, delete the
 * account, sign out) must not affect the next route.
 */
let actors: Promise<Actor[]> | null = null;
function unusedActors(): Promise<Actor[]> {
  actors ??= cast();
  return actors;
}

for (const route of routes) {
  test(`${route.method} ${route.path} admits exactly whom its access names`, async () => {
    // Where the body names the organization it is read before access is decided, so it must be a good one.
    if ("role" in route.access && route.access.organization === "body" && route.body)
      assert.ok(Check(route.body, bodyOf(route, nobodysUuid)), "the sample body fits");
    for (const actor of await unusedActors()) {
      const answer = await actor.api.call(
        route.method,
        pathOf(route),
        route.body ? { body: bodyOf(route, actor.organizationId) } : {},
      );
      if (isWrite(route) && answer.status < 400) actors = null;
      const seen = `${actor.name}: ${answer.status} ${answer.text.slice(0, 300)}`;
      assert.equal(verdictOf(answer, route, actor.caller), promised(route, actor.caller), seen);
      if (isList(route)) assert.ok(answer.body.pagination, seen);
      assert.notEqual(answer.status, 500, seen);
      tally("requests checked against access rules");
      // A refusal has a code that the published document lists for the route.
      const code = answer.body.error?.code;
      assert.ok(code === undefined || errorsOf(route).some((documented) => documented === code), seen);
    }
  });
}

for (const route of routes.filter(isWrite)) {
  test(`${route.method} ${route.path} documents its refusal of a body that is too large`, async () => {
    const owner = (await unusedActors()).find(({ name }) => name === "owner");
    const raw = JSON.stringify("x".repeat(bodyLimitOf(route)));
    const headers = { "content-type": "application/json" };
    const answer = await owner?.api.call(route.method, pathOf(route), { raw, headers });
    assert.equal(answer?.body.error?.code, "PAYLOAD_TOO_LARGE");
    assert.ok(errorsOf(route).includes("PAYLOAD_TOO_LARGE"));
  });
}

test("the matrix can fail: a promise that differs from the code is noticed", async () => {
  const [route] = routes.filter(
    (candidate) => "role" in candidate.access && candidate.access.role === "owner",
  );
  assert.ok(route);
  const loosened = { ...route, access: { role: "member" } } as RouteDefinition;
  const member = (await cast()).find((actor) => actor.name === "member");
  assert.ok(member);
  const answer = await member.api.call(
    route.method,
    pathOf(route),
    route.body ? { body: bodyOf(route, member.organizationId) } : {},
  );
  assert.notEqual(verdictOf(answer, loosened, member.caller), promised(loosened, member.caller));
});

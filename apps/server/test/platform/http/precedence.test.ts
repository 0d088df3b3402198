import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionCookieNames } from "@assay/contract/facts";
import { hasRole, isWrite, type RouteDefinition, roleForScope, scopes } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { dayMs, later } from "../../../src/platform/kernel/clock.ts";
import { openUserSession } from "../../../src/tenants/accounts/user-session.ts";
import { setPendingDeletion } from "../../../src/tenants/organizations/deletion.store.ts";
import type { Api } from "../../support/api.ts";
import { createKeyRow, createOrganization, createPerson } from "../../support/cast.ts";
import { bodyOf, pathOf } from "../../support/route-samples.ts";
import { startTestService } from "../../support/service.ts";

/**
 * Which refusal comes first: 401, then 403, then 410 for users; 410 before everything but 401 for API keys. A
 * refused caller sees no other problem of the request.
 */

const { api, core } = await startTestService();
const now = core.clock.now();
const { organizationId, member, owner, keys } = await core.db.transaction(async (tx) => {
  const people = { owner: await createPerson(tx, api, now), member: await createPerson(tx, api, now) };
  const id = await createOrganization(tx, core, now, people);
  await setPendingDeletion(tx, id, later(now, dayMs), now);
  const keys = [];
  for (const held of [[], scopes]) keys.push((await createKeyRow(tx, { api, core }, now, id, held)).api);
  return { organizationId: id, ...people, keys };
});
/** The operator's routes do not exist for other callers. */
const closedRoutes = routes.filter(({ access }) => !("public" in access || "operator" in access));

type Request = { path: string; options: Parameters<Api["call"]>[2] };

/** The correct request, and the ways in which it can also be wrong. */
function requestsFor(route: RouteDefinition): Request[] {
  const good = pathOf(route);
  const body = route.body ? { body: bodyOf(route, organizationId) } : {};
  const broken = { raw: "{broken", headers: { "content-type": "application/json" } };
  return [
    { path: good, options: body },
    { path: `${good}?nonsense=1`, options: body },
    { path: pathOf(route, () => "no-such-form"), options: body },
    ...(isWrite(route) ? [{ path: good, options: broken }] : []),
  ];
}

async function expectRefusal(as: Api, route: RouteDefinition, expected: string, only?: 1): Promise<void> {
  for (const { path, options } of requestsFor(route).slice(0, only)) {
    const answer = await as.call(route.method, path, options);
    assert.equal(`${answer.status} ${answer.body.error?.code}`, expected, `${route.method} ${path}`);
  }
}

const roleFor = ({ access }: RouteDefinition) =>
  "role" in access ? access.role : "scope" in access ? roleForScope(access.scope) : null;
const refusedWhileFrozen = (route: RouteDefinition) => {
  const stated = "whileFrozen" in route.access ? route.access.whileFrozen : undefined;
  return stated === undefined ? isWrite(route) : stated === "refused";
};

test("a key that is none gets 401 on every route, whatever else is wrong", async () => {
  for (const route of closedRoutes)
    await expectRefusal(api.as(`kk_${"0".repeat(32)}`), route, "401 UNAUTHORIZED");
});

test("a key of a frozen organization gets 410 on every route, whatever its scopes and whatever else is wrong", async () => {
  for (const key of keys)
    for (const route of closedRoutes) await expectRefusal(key, route, "410 ORGANIZATION_FROZEN");
});

test("a user of a frozen organization gets 403 for a lacking role before 410 for the freeze, and both before anything else", async () => {
  let forbidden = 0;
  for (const route of closedRoutes) {
    const needed = roleFor(route);
    if (needed === null) continue;
    // Where the body names the organization, a body that cannot be read names none.
    const only = "organization" in route.access && route.access.organization === "body" ? 1 : undefined;
    if (!hasRole("member", needed)) {
      await expectRefusal(member.api, route, "403 ROLE_REQUIRED", only);
      forbidden += 1;
    }
    if (refusedWhileFrozen(route)) await expectRefusal(owner.api, route, "410 ORGANIZATION_FROZEN", only);
  }
  assert.ok(forbidden > 20);
});

test("a write with a cookie from a foreign page gets 401 without a session, and 403 before 410 with one", async () => {
  const token = await core.db.transaction((tx) =>
    openUserSession(tx, owner.userId, { userAgent: "precedence", language: null }, now),
  );
  const headers = (cookie: string) => ({
    cookie: `${sessionCookieNames.http}=${cookie}`,
    origin: "https://evil.example",
  });
  for (const route of closedRoutes.filter(isWrite)) {
    const answers = [];
    for (const cookie of ["nobody", token]) {
      const answer = await api.call(route.method, pathOf(route), { headers: headers(cookie) });
      answers.push(`${answer.status} ${answer.body.error?.code}`);
    }
    assert.deepEqual(answers, ["401 UNAUTHORIZED", "403 FOREIGN_ORIGIN"], `${route.method} ${route.path}`);
  }
});

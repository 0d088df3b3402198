import assert from "node:assert/strict";
import test from "node:test";
import type { ErrorCode } from "@assay/contract/errors";
import type { Access, Method } from "@assay/contract/route";
import { ApiError } from "../kernel/api-error.ts";
import type { KeyCaller, Membership, UserCaller } from "../kernel/caller.ts";
import { knownId } from "../kernel/ids.ts";
import { admit, memberOf } from "./access.ts";

const key: KeyCaller = {
  kind: "key",
  keyId: knownId("key"),
  organizationId: knownId("acme"),
  scopes: ["sessions:read"],
  environment: "sandbox",
  frozen: false,
  agentsMayChangeWebhooks: false,
};
const admin: Membership = {
  organizationId: knownId("acme"),
  role: "admin",
  liveIsOpen: false,
  frozen: false,
};
const user: UserCaller = {
  kind: "user",
  userId: knownId("user"),
  userSessionId: knownId("user session"),
  name: "Ann",
  email: "ann@example.com",
  foldedEmail: null,
  membership: admin,
};
const inAcme = (membership: Partial<Membership>): UserCaller => ({
  ...user,
  membership: { ...admin, ...membership },
});

const route = (access: Access, method: Method = "GET") => ({ access, method });
const readSessions = route({ scope: "sessions:read" });

function refusal(work: () => unknown): ErrorCode | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

test("a public route knows no caller, whoever calls", () => {
  for (const caller of [null, key, user])
    assert.equal(admit(route({ public: true }), caller, undefined), null);
});

test("a route of operators is there for a user who is one, and for nobody else", () => {
  const operators = route({ operator: true });
  assert.equal(admit(operators, user, undefined, true), user);
  for (const [caller, isOperator] of [
    [null, true],
    [key, true],
    [user, false],
  ] as const)
    assert.equal(
      refusal(() => admit(operators, caller, undefined, isOperator)),
      "NOT_FOUND",
    );
  assert.equal(
    refusal(() => admit(operators, user, undefined)),
    "NOT_FOUND",
  );
});

test("a key is admitted by its scope, to routes that take keys, while its organization is not frozen", () => {
  assert.equal(admit(readSessions, key, undefined), key);
  for (const [access, caller, code] of [
    [{ scope: "sessions:write" }, key, "FORBIDDEN"],
    [{ role: "member" }, key, "API_KEY_NOT_ALLOWED"],
    [{ user: true }, key, "API_KEY_NOT_ALLOWED"],
    [{ scope: "sessions:read" }, { ...key, frozen: true }, "ORGANIZATION_FROZEN"],
    [{ user: true }, { ...key, frozen: true }, "ORGANIZATION_FROZEN"],
    [{ scope: "sessions:read" }, null, "UNAUTHORIZED"],
  ] as const)
    assert.equal(
      refusal(() => admit(route(access), caller, undefined)),
      code,
      JSON.stringify(access),
    );
});

test("the environment of a key decides: the header may repeat it and not contradict it", () => {
  assert.equal(admit(readSessions, key, "sandbox"), key);
  const live: KeyCaller = { ...key, environment: "live" };
  assert.equal(admit(readSessions, live, undefined), live);
  for (const asked of ["live", "Sandbox", "", ["sandbox", "sandbox"]])
    assert.equal(
      refusal(() => admit(readSessions, key, asked)),
      "BAD_REQUEST",
      String(asked),
    );
});

test("a user without an organization gets no further than what is their own", () => {
  const alone = { ...user, membership: null };
  assert.equal(admit(route({ user: true }), alone, undefined), alone);
  assert.equal(admit(route({ role: "owner", organization: "body" }), alone, undefined), alone);
  for (const access of [{ role: "member" }, { scope: "sessions:read" }] as const)
    assert.equal(
      refusal(() => admit(route(access), alone, undefined)),
      "ORGANIZATION_REQUIRED",
    );
});

test("a member needs the role of the route, or the one that its scope stands for", () => {
  for (const [access, role, isAdmitted] of [
    [{ role: "admin" }, "admin", true],
    [{ role: "admin" }, "member", false],
    [{ role: "owner" }, "admin", false],
    [{ scope: "sessions:read" }, "member", true],
    [{ scope: "sessions:write" }, "member", false],
    [{ scope: "sessions:write" }, "admin", true],
  ] as const)
    assert.equal(
      refusal(() => admit(route(access), inAcme({ role }), undefined)),
      isAdmitted ? null : "ROLE_REQUIRED",
      JSON.stringify([access, role]),
    );
});

test("of a frozen organization members read and do not write, unless the route says otherwise", () => {
  const frozen = inAcme({ frozen: true });
  for (const [access, method, isRefused] of [
    [{ role: "member" }, "GET", false],
    [{ role: "member" }, "POST", true],
    [{ role: "member", whileFrozen: "allowed" }, "POST", false],
    [{ role: "member", whileFrozen: "refused" }, "GET", true],
    [{ scope: "sessions:read" }, "GET", false],
    [{ scope: "sessions:read", whileFrozen: "refused" }, "GET", true],
  ] as const) {
    const asked = () => admit(route(access, method), frozen, undefined);
    assert.equal(refusal(asked), isRefused ? "ORGANIZATION_FROZEN" : null, JSON.stringify([access, method]));
  }
  assert.equal(
    refusal(() => admit(route({ role: "member" }, "POST"), inAcme({}), undefined)),
    null,
  );
});

test("a user is in the sandbox unless the header says live, and live has to be open or prepared by the route", () => {
  const environmentOf = (caller: UserCaller, asked: string | undefined, access: Access) => {
    const admitted = admit(route(access), caller, asked);
    return admitted !== null && "environment" in admitted ? admitted.environment : null;
  };
  const sessions = { scope: "sessions:read" } as const;
  const open = inAcme({ liveIsOpen: true });
  assert.equal(environmentOf(user, undefined, sessions), "sandbox");
  assert.equal(environmentOf(open, undefined, sessions), "sandbox");
  assert.equal(environmentOf(open, "live", sessions), "live");
  assert.equal(environmentOf(open, "live", { role: "member", inEnvironment: true }), "live");
  assert.equal(environmentOf(user, "live", { ...sessions, beforeLive: true }), "live");
  assert.equal(environmentOf(user, "live", { role: "member" }), null, "what environments share is in none");
  assert.equal(
    refusal(() => environmentOf(user, "live", sessions)),
    "ORGANIZATION_NOT_READY",
  );
  assert.equal(
    refusal(() => environmentOf(open, "LIVE", sessions)),
    "BAD_REQUEST",
  );
});

test("a member acts in the organization that was asked for, with the role there", () => {
  const other: Membership = { ...admin, organizationId: knownId("other"), role: "owner" };
  const member = memberOf(route({ role: "owner" }), user, other, undefined);
  assert.deepEqual(member, { ...user, membership: other, organizationId: "other", role: "owner" });
});

import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import test from "node:test";
import type { ApiKeyId, OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { KeyCaller, UserCaller } from "../kernel/caller.ts";
import { Callers } from "./caller-of.ts";

const organizationId = "0b2f7d1e-0000-4000-8000-000000000001" as OrganizationId;
const key: KeyCaller = {
  kind: "key",
  keyId: "key" as ApiKeyId,
  organizationId,
  scopes: [],
  environment: "sandbox",
  frozen: false,
  agentsMayChangeWebhooks: false,
};
const user: UserCaller = {
  kind: "user",
  userId: "user" as UserId,
  userSessionId: "session" as UserSessionId,
  name: "",
  email: "",
  foldedEmail: null,
  membership: null,
};
const member: UserCaller = {
  ...user,
  membership: { organizationId, role: "owner", liveIsOpen: false, frozen: false },
};

function request(headers: Record<string, string> = {}, from = "203.0.113.7", url = "/v1/sessions") {
  return { url, headers, socket: { remoteAddress: from } } as unknown as IncomingMessage;
}

function callersOf(trustProxy: readonly string[] = []) {
  return new Callers({ isSecure: () => false, trustProxy });
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

test("all keys and members of an organization are one caller, once they have been accepted", () => {
  const callers = callersOf();
  for (const [credential, caller] of [
    ["kk_1", key],
    ["kk_2", key],
    ["token", member],
  ] as const)
    callers.learn(callers.of(request(bearer(credential))).credential ?? "", caller);
  const used = ["kk_1", "kk_2", "token"].map((credential) => callers.of(request(bearer(credential))).caller);
  assert.equal(new Set(used).size, 1);
  assert.notEqual(used[0], callers.of(request()).caller);
});

test("a user without an organization is a caller of their own, by token as by cookie", () => {
  const callers = callersOf();
  const cookie = { cookie: "theme=dark; assay_session=secret" };
  const { credential } = callers.of(request(cookie));
  assert.ok(credential);
  callers.learn(credential, user);
  assert.equal(callers.of(request(cookie, "198.51.100.1")).caller, "user");
});

test("credentials that were made up, and one that is no longer accepted, count by address", () => {
  const callers = callersOf();
  const byAddress = callers.of(request()).caller;
  for (let i = 0; i < 50; i++) assert.equal(callers.of(request(bearer(`kk_${i}`))).caller, byAddress);
  const { credential } = callers.of(request(bearer("kk_1")));
  callers.learn(credential ?? "", key);
  callers.forget(credential ?? "");
  assert.equal(callers.of(request(bearer("kk_1"))).caller, byAddress);
});

test("no credential is kept as it was sent", () => {
  const { credential } = callersOf().of(request(bearer("kk_very_secret")));
  assert.doesNotMatch(credential ?? "", /secret/);
});

test("a person in a verification counts by address, whatever is presented", () => {
  const callers = callersOf();
  for (const url of ["/v1/verify/session/vs_1/status", "/verify/vs_1"]) {
    const { caller, credential } = callers.of(request(bearer("x"), "203.0.113.7", url));
    assert.deepEqual([caller, credential], ["address 203.0.113.7", null]);
  }
  assert.ok(callers.of(request(bearer("x"), "203.0.113.7", "/v1/verifyx")).credential);
});

test("a network of version 6 is one caller, its neighbour another", () => {
  const callers = callersOf();
  const callerOf = (from: string) => callers.of(request({}, from)).caller;
  assert.equal(callerOf("2001:db8:0:1::5"), callerOf("2001:db8:0:1:ffff:1:2:3"));
  assert.equal(callerOf("2001:db8::1:5"), callerOf("2001:db8:0:0::9"));
  assert.notEqual(callerOf("2001:db8:0:1::5"), callerOf("2001:db8:0:2::5"));
  assert.notEqual(callerOf("::ffff:203.0.113.7"), callerOf("::ffff:203.0.113.8"));
});

test("behind a trusted proxy the client's address counts, and a forged one before it does not", () => {
  const callers = callersOf(["10.0.0.0/8"]);
  const forwarded = (value: string) => ({ "x-forwarded-for": value });
  assert.equal(callers.of(request(forwarded("198.51.100.9"), "10.0.0.1")).caller, "address 198.51.100.9");
  assert.equal(
    callers.of(request(forwarded("1.2.3.4, 198.51.100.9, 10.1.1.1"), "10.0.0.1")).caller,
    "address 198.51.100.9",
  );
  assert.equal(callers.of(request(forwarded("1.2.3.4"), "203.0.113.7")).caller, "address 203.0.113.7");
  assert.equal(callers.of(request(forwarded("nonsense"), "10.0.0.1")).caller, "address 10.0.0.1");
  assert.equal(callers.of(request({}, "10.0.0.1")).caller, "address 10.0.0.1");
});

test("what is remembered is bounded: the one learnt longest ago is forgotten first", () => {
  const callers = callersOf();
  const credentialOf = (i: number) => callers.of(request(bearer(`kk_${i}`))).credential ?? "";
  for (let i = 0; i <= 10_000; i++) callers.learn(credentialOf(i), key);
  assert.equal(callers.of(request(bearer("kk_0"))).caller, "address 203.0.113.7");
  assert.equal(callers.of(request(bearer("kk_1"))).caller, organizationId);
});

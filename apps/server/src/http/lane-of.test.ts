import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import test from "node:test";
import type { ApiKeyId, OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { KeyCaller, UserCaller } from "../kernel/caller.ts";
import { Lanes } from "./lane-of.ts";

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

function lanesOf(trustProxy: readonly string[] = []) {
  return new Lanes({ isSecure: () => false, trustProxy });
}

const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

test("all keys and members of an organization share a lane, once they have been accepted", () => {
  const lanes = lanesOf();
  for (const [credential, caller] of [
    ["kk_1", key],
    ["kk_2", key],
    ["token", member],
  ] as const)
    lanes.learn(lanes.of(request(bearer(credential))).credential ?? "", caller);
  const used = ["kk_1", "kk_2", "token"].map((credential) => lanes.of(request(bearer(credential))).lane);
  assert.equal(new Set(used).size, 1);
  assert.notEqual(used[0], lanes.of(request()).lane);
});

test("a user without an organization has a lane of their own, by token as by cookie", () => {
  const lanes = lanesOf();
  const cookie = { cookie: "theme=dark; assay_session=secret" };
  const { credential } = lanes.of(request(cookie));
  assert.ok(credential);
  lanes.learn(credential, user);
  assert.equal(lanes.of(request(cookie, "198.51.100.1")).lane, "user");
});

test("credentials that were made up, and one that is no longer accepted, count by address", () => {
  const lanes = lanesOf();
  const byAddress = lanes.of(request()).lane;
  for (let i = 0; i < 50; i++) assert.equal(lanes.of(request(bearer(`kk_${i}`))).lane, byAddress);
  const { credential } = lanes.of(request(bearer("kk_1")));
  lanes.learn(credential ?? "", key);
  lanes.forget(credential ?? "");
  assert.equal(lanes.of(request(bearer("kk_1"))).lane, byAddress);
});

test("no credential is kept as it was sent", () => {
  const { credential } = lanesOf().of(request(bearer("kk_very_secret")));
  assert.doesNotMatch(credential ?? "", /secret/);
});

test("a person in a verification is known as one and counts by address, whatever is presented", () => {
  const lanes = lanesOf();
  for (const url of ["/v1/verify/session/vs_1/status", "/verify/vs_1"]) {
    const { lane, isPerson, credential } = lanes.of(request(bearer("x"), "203.0.113.7", url));
    assert.deepEqual([lane, isPerson, credential], ["address 203.0.113.7", true, null]);
  }
  assert.equal(lanes.of(request({}, "203.0.113.7", "/v1/verifyx")).isPerson, false);
});

test("a network of version 6 is one lane, its neighbour another", () => {
  const lanes = lanesOf();
  const laneOf = (from: string) => lanes.of(request({}, from)).lane;
  assert.equal(laneOf("2001:db8:0:1::5"), laneOf("2001:db8:0:1:ffff:1:2:3"));
  assert.equal(laneOf("2001:db8::1:5"), laneOf("2001:db8:0:0::9"));
  assert.notEqual(laneOf("2001:db8:0:1::5"), laneOf("2001:db8:0:2::5"));
  assert.notEqual(laneOf("::ffff:203.0.113.7"), laneOf("::ffff:203.0.113.8"));
});

test("behind a trusted proxy the client's address counts, and a forged one before it does not", () => {
  const lanes = lanesOf(["10.0.0.0/8"]);
  const forwarded = (value: string) => ({ "x-forwarded-for": value });
  assert.equal(lanes.of(request(forwarded("198.51.100.9"), "10.0.0.1")).lane, "address 198.51.100.9");
  assert.equal(
    lanes.of(request(forwarded("1.2.3.4, 198.51.100.9, 10.1.1.1"), "10.0.0.1")).lane,
    "address 198.51.100.9",
  );
  assert.equal(lanes.of(request(forwarded("1.2.3.4"), "203.0.113.7")).lane, "address 203.0.113.7");
  assert.equal(lanes.of(request(forwarded("nonsense"), "10.0.0.1")).lane, "address 10.0.0.1");
  assert.equal(lanes.of(request({}, "10.0.0.1")).lane, "address 10.0.0.1");
});

test("what is remembered is bounded: the one learnt longest ago is forgotten first", () => {
  const lanes = lanesOf();
  const credentialOf = (i: number) => lanes.of(request(bearer(`kk_${i}`))).credential ?? "";
  for (let i = 0; i <= 10_000; i++) lanes.learn(credentialOf(i), key);
  assert.equal(lanes.of(request(bearer("kk_0"))).lane, "address 203.0.113.7");
  assert.equal(lanes.of(request(bearer("kk_1"))).lane, organizationId);
});

import assert from "node:assert/strict";
import test from "node:test";
import type { WalletChannel, WalletMethod } from "@assay/contract/wallet-facts";
import type { DeviceKind } from "../device/device-kind.ts";
import { askedBy, type Means, meansOf } from "./means.ts";

const way = (method: WalletMethod, ...channels: WalletChannel[]) => ({ method, channels, looks_at: [] });
const identity = [way("wallet_pid", "dc_api", "redirect"), way("wallet_mdl", "dc_api", "redirect")];
const age = [way("wallet_age", "dc_api", "age_link")];
/** What the service offers if one browser is required. */
const boundAge = [way("wallet_age", "dc_api")];

test("the browser's API comes first; a phone opens the wallet by link, a computer hands over to the phone", () => {
  const table: [
    string,
    typeof identity,
    DeviceKind,
    { hasApi?: true; sandbox?: true; isBound?: true },
    Means[],
  ][] = [
    ["a phone", identity, "android", {}, ["link"]],
    ["a phone whose browser knows", identity, "iphone", { hasApi: true }, ["browser", "link"]],
    ["a computer", identity, "desktop", {}, ["handover"]],
    ["a computer whose browser knows", identity, "desktop", { hasApi: true }, ["browser", "handover"]],
    ["an iPad", identity, "ipad", {}, ["handover"]],
    ["one browser for all", identity, "desktop", { hasApi: true, isBound: true }, ["browser"]],
    ["one browser that has no way", identity, "desktop", { isBound: true }, []],
    ["one browser, on a phone", identity, "android", { isBound: true }, ["link"]],
    ["age on a phone", age, "android", {}, ["link"]],
    ["age on a computer", age, "desktop", {}, ["request"]],
    ["age in one browser, on a computer", boundAge, "desktop", { isBound: true }, []],
    ["age in one browser, on a phone", boundAge, "android", { hasApi: true, isBound: true }, ["browser"]],
    ["the sandbox on a phone", identity, "android", { sandbox: true }, ["test", "link"]],
    ["the sandbox", identity, "desktop", { sandbox: true, hasApi: true }, ["test", "browser", "handover"]],
    ["age in the sandbox", age, "desktop", { sandbox: true }, ["test", "request"]],
  ];
  const none = { hasApi: false, sandbox: false, isBound: false };
  for (const [name, ways, kind, given, means] of table)
    assert.deepEqual(meansOf(ways, { kind, ...none, ...given }), means, name);
});

test("a code with the request itself never asks for an identity", () => {
  for (const kind of ["android", "iphone", "ipad", "desktop", "shell", "desk"] as const)
    for (const hasApi of [true, false])
      assert.ok(!meansOf(identity, { kind, hasApi, sandbox: false, isBound: false }).includes("request"));
});

test("a single method is asked for by its name, several are asked for together", () => {
  assert.deepEqual(askedBy("browser", identity), { channel: "dc_api", method: null });
  assert.deepEqual(askedBy("link", identity.slice(1)), { channel: "redirect", method: "wallet_mdl" });
  assert.deepEqual(askedBy("link", age), { channel: "age_link", method: "wallet_age" });
  assert.deepEqual(askedBy("request", age), { channel: "age_link", method: "wallet_age" });
  assert.deepEqual(askedBy("test", age), { channel: "age_link", method: "wallet_age" });
});

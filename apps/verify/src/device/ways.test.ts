import assert from "node:assert/strict";
import test from "node:test";
import type { DeviceKind } from "./device-kind.ts";
import { appLinkOf, type ReaderApps, type Way, wayOf } from "./ways.ts";

const none: ReaderApps = { android: null, ios: null };
const both: ReaderApps = {
  android: { package_name: "org.example.verify", install_url: "https://verify.example.org/app" },
  ios: { app_clip: true, install_url: "https://apps.apple.com/app/id1" },
};
const android = {
  by: "app",
  platform: "android",
  packageName: "org.example.verify",
  installUrl: "https://verify.example.org/app",
} as const;
const ios = {
  by: "app",
  platform: "ios",
  appClip: true,
  installUrl: "https://apps.apple.com/app/id1",
} as const;

test("each kind of device has one first way, a code is never that of a phone, and there is none where no phone reads", () => {
  const table: [DeviceKind, ReaderApps, boolean, Way][] = [
    ["desk", none, false, { by: "here" }],
    ["shell", both, false, { by: "here" }],
    ["android", both, false, android],
    ["android", both, true, android],
    ["android", { ...both, android: null }, false, { by: "elsewhere" }],
    ["android", none, true, { by: "here" }],
    ["iphone", both, false, ios],
    ["iphone", { ...both, ios: null }, false, { by: "elsewhere" }],
    ["iphone", none, false, { by: "counter" }],
    ["android", none, false, { by: "counter" }],
    ["ipad", none, false, { by: "counter" }],
    ["iphone", none, true, { by: "here" }],
    ["ipad", both, false, { by: "code" }],
    ["desktop", none, false, { by: "counter" }],
    ["desktop", none, true, { by: "code" }],
    ["desktop", { ...both, ios: null }, false, { by: "code" }],
    ["desktop", both, true, { by: "code" }],
  ];
  for (const [kind, apps, sandbox, way] of table) assert.deepEqual(wayOf(kind, apps, sandbox), way, kind);
});

test("an Android link names the app and the way back, and keeps the token out of what is sent to a server", () => {
  const page = { origin: "https://verify.example.org", sessionId: "vs_1", handoffToken: null };
  assert.equal(
    appLinkOf(android, page),
    "intent://verify.example.org/verify/vs_1#Intent;scheme=https;package=org.example.verify;S.browser_fallback_url=https%3A%2F%2Fverify.example.org%2Fverify%2Fvs_1%3Fapp%3Dmissing;end",
  );
  const link = appLinkOf(android, { ...page, handoffToken: "a-b_c" });
  assert.ok(link.startsWith("intent://verify.example.org/verify/vs_1#handoff=a-b_c#Intent;scheme=https;"));
  assert.ok(!decodeURIComponent(link.split("#Intent;")[1] ?? "").includes("a-b_c"));
  const local = appLinkOf(android, { ...page, origin: "http://localhost:3000" });
  assert.ok(local.startsWith("intent://localhost:3000/verify/vs_1#Intent;scheme=http;"));
});

test("an iPhone link is an address of the page itself, with the token in its fragment", () => {
  const page = { origin: "https://verify.example.org", sessionId: "vs_1", handoffToken: "t" };
  assert.equal(appLinkOf(ios, page), "https://verify.example.org/verify/vs_1?app=missing#handoff=t");
});

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { after } from "node:test";
import { openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";

const { url, api } = await startTestService();
const browser = await openBrowser();

const locked = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
type Expected = {
  paths: readonly string[];
  policy: readonly string[];
  cache: string;
  opener: string;
  /** Of all features that browsers offer to pages. */
  lent: readonly string[];
  frames?: "SAMEORIGIN";
};

const classes: Readonly<Record<string, Expected>> = {
  text: {
    paths: ["/", "/docs", "/docs/errors", "/docs/decisions", "/reference", "/reference/sessions"],
    policy: [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      ...locked,
    ],
    cache: "no-cache",
    opener: "same-origin",
    lent: ["clipboard-write"],
  },
  dashboard: {
    paths: ["/dashboard", "/dashboard/sign-in", "/dashboard/any/thing", `/invitations/${"x".repeat(43)}`],
    policy: [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      "frame-src 'self'",
      ...locked,
    ],
    cache: "no-store",
    opener: "same-origin",
    lent: ["clipboard-write", "publickey-credentials-create", "publickey-credentials-get"],
  },
  verify: {
    paths: [`/verify/vs_${"0".repeat(64)}`, `/verify/vs_${"0".repeat(64)}/complete`],
    policy: [
      "default-src 'none'",
      "script-src 'self' 'wasm-unsafe-eval'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "media-src 'self' blob:",
      "worker-src 'self'",
      "manifest-src 'self'",
      ...locked,
    ],
    cache: "no-store",
    opener: "same-origin-allow-popups",
    lent: ["autoplay", "camera", "clipboard-write", "screen-wake-lock"],
  },
  // It may connect nowhere, and only pages of this origin may frame it.
  preview: {
    paths: ["/verify/preview", "/verify/preview?name=Evil"],
    policy: [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' blob:",
      "font-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
    ],
    cache: "no-store",
    opener: "same-origin",
    lent: [],
    frames: "SAMEORIGIN",
  },
};

for (const [name, expected] of Object.entries(classes)) {
  test(`pages of the class "${name}" carry its headers, asked for with GET or HEAD`, async () => {
    for (const path of expected.paths) {
      for (const method of ["GET", "HEAD"]) {
        const { status, headers, text } = await api.call(method, path, {});
        const what = `${method} ${path}`;
        assert.equal(status, 200, what);
        assert.equal(text === "", method === "HEAD", what);
        assert.match(headers.get("content-type") ?? "", /^text\/html/, what);
        assert.deepEqual(headers.get("content-security-policy")?.split("; "), expected.policy, what);
        assert.equal(headers.get("cache-control"), expected.cache, what);
        assert.equal(headers.get("cross-origin-opener-policy"), expected.opener, what);
        assert.equal(headers.get("cross-origin-resource-policy"), "same-origin", what);
        assert.equal(headers.get("x-frame-options"), expected.frames ?? "DENY", what);
        assert.equal(headers.get("x-content-type-options"), "nosniff", what);
        assert.equal(headers.get("referrer-policy"), "no-referrer", what);
        const permissions = (headers.get("permissions-policy") ?? "").split(", ");
        assert.ok(permissions.length >= 30, what);
        assert.deepEqual(
          permissions.filter((permission) => !permission.endsWith("=()")),
          expected.lent.map((feature) => `${feature}=(self)`),
          what,
        );
      }
    }
  });

  test(`the browser lends to a page of the class "${name}" what it needs and nothing else, and has no complaint`, async () => {
    const { page, problems } = await openPage(browser, url);
    const warnings: string[] = [];
    page.on("console", (message) => {
      if (/polic/i.test(message.text())) warnings.push(message.text());
    });
    await page.goto(url + (expected.paths[0] ?? ""));
    const allowed = await page.evaluate<string[]>("document.featurePolicy.allowedFeatures()");
    const powerful =
      /^(?:camera|microphone|geolocation|usb|serial|hid|midi|payment|display-capture|clipboard-.*|fullscreen|screen-wake-lock|publickey-.*|otp-.*|identity-.*|idle-.*|local-fonts|xr-.*|autoplay|window-management|gamepad|gyroscope|accelerometer|magnetometer|storage-access|browsing-topics|picture-in-picture|encrypted-media|keyboard-map|sync-xhr)$/;
    assert.deepEqual(allowed.filter((feature) => powerful.test(feature)).sort(), [...expected.lent].sort());
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      problems.filter((problem) => !problem.includes("Failed to load resource")),
      [],
    );
    await page.context().close();
  });
}

test("a page of another origin that opened one of ours cannot put something else in its place", async () => {
  const other = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>other</title><h1>other</h1>");
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", () => resolve()));
  after(() => other.close());
  const origin = `http://localhost:${(other.address() as AddressInfo).port}`;
  for (const path of ["/dashboard/sign-in", "/docs", `/verify/vs_${"0".repeat(64)}`]) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    const [opened] = await Promise.all([
      context.waitForEvent("page"),
      page.evaluate(`void (window.opened = window.open(${JSON.stringify(url + path)}))`),
    ]);
    await opened.waitForLoadState("domcontentloaded");
    await page.evaluate(`window.opened.location = ${JSON.stringify(`${origin}/phish`)}`);
    await opened.waitForTimeout(300);
    assert.equal(new URL(opened.url()).origin, url, `${path} was replaced`);
    await context.close();
  }
});

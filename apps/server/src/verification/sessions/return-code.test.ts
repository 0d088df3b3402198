import assert from "node:assert/strict";
import test from "node:test";
import { hashToken } from "../../platform/kernel/ids.ts";
import { isBoundElsewhere, isFirstBrowser, needsReturnCode, returnCodeSha256 } from "./return-code.ts";

const code = "the-code-of-the-first-browser";
const redirectUrl = "https://shop.example/return";
const opened = { returnCodeHash: hashToken(code) };
const unopened = { returnCodeHash: null };

test("partners get the hash of the code where a browser has one and comes back, and null otherwise", () => {
  assert.equal(returnCodeSha256({ ...opened, redirectUrl }), hashToken(code).toString("hex"));
  assert.equal(returnCodeSha256({ ...opened, redirectUrl: null }), null);
  assert.equal(returnCodeSha256({ ...unopened, redirectUrl }), null);
});

test("a code is given for a redirect, for a binding, and from version 2 on", () => {
  const plain = { redirectUrl: null, requirements: {}, contractVersion: 1 };
  assert.equal(needsReturnCode(plain), false);
  assert.equal(needsReturnCode({ ...plain, redirectUrl }), true);
  assert.equal(needsReturnCode({ ...plain, requirements: { binding: "required" } }), true);
  assert.equal(needsReturnCode({ ...plain, requirements: { revocation: "required" } }), false);
  assert.equal(needsReturnCode({ ...plain, contractVersion: 2 }), true);
});

test("the first browser is the one with the code, and there is none before a code was given", () => {
  assert.equal(isFirstBrowser(opened, code), true);
  assert.equal(isFirstBrowser(opened, `${code}x`), false);
  assert.equal(isFirstBrowser(opened, ""), false);
  assert.equal(isFirstBrowser(opened, undefined), false);
  assert.equal(isFirstBrowser(unopened, code), false);
  assert.equal(isFirstBrowser(unopened, undefined), false);
});

test("with binding required every other browser is kept out; without it none is", () => {
  const required = { redirectUrl, requirements: { binding: "required" } } as const;
  assert.equal(isBoundElsewhere({ ...opened, ...required }, code), false);
  assert.equal(isBoundElsewhere({ ...opened, ...required }, "another"), true);
  assert.equal(isBoundElsewhere({ ...opened, ...required }, undefined), true);
  assert.equal(isBoundElsewhere({ ...unopened, ...required }, code), true);
  for (const requirements of [{}, { clone_detection: "required" }] as const)
    assert.equal(isBoundElsewhere({ ...opened, redirectUrl, requirements }, undefined), false);
});

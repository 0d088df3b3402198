import assert from "node:assert/strict";
import test from "node:test";
import { goesBackByItself, hasRedirect, wayBack } from "./way-back.ts";

test("only a success that the person has watched leads back by itself", () => {
  const watched = { sawItOpen: true, withdrawn: false };
  assert.equal(goesBackByItself({ status: "succeeded", ...watched }), true);
  for (const status of ["failed", "expired", "cancelled"] as const)
    assert.equal(goesBackByItself({ status, ...watched }), false, status);
  assert.equal(goesBackByItself({ status: "succeeded", sawItOpen: false, withdrawn: false }), false);
  assert.equal(goesBackByItself({ status: "succeeded", sawItOpen: true, withdrawn: true }), false);
});

test("the code of this browser comes back to the partner once, by whichever way the person goes", (context) => {
  const visited: string[] = [];
  const before = Object.getOwnPropertyDescriptor(globalThis, "location");
  Object.defineProperty(globalThis, "location", {
    value: { assign: (address: string) => visited.push(address) },
    configurable: true,
  });
  context.after(() => {
    if (before === undefined) Reflect.deleteProperty(globalThis, "location");
    else Object.defineProperty(globalThis, "location", before);
  });
  const kept: { returnCode: string | null } = { returnCode: "a-code" };
  const address = "https://shop.example.com/done?room=7%207";
  const withCode = `${address}&return_code=a-code`;
  // A link that is shown has it, and still has it when the page is loaded again.
  assert.equal(wayBack(address, kept).url, withCode);
  const back = wayBack(address, kept);
  assert.equal(back.url, withCode);
  back.forget();
  assert.equal(kept.returnCode, null);
  kept.returnCode = "a-code";
  wayBack(address, kept).go();
  wayBack(address, kept).go();
  wayBack(null, kept).go();
  assert.deepEqual(visited, [withCode, address]);
});

test("the closing page of this service is no address of the partner", () => {
  const redirectTo = (address: string) => hasRedirect({ id: "vs_1", redirect_url: address } as never);
  assert.equal(redirectTo("https://verify.example.org/verify/vs_1/complete"), false);
  assert.equal(redirectTo("https://shop.example.com/done"), true);
  assert.equal(redirectTo("https://shop.example.com/verify/vs_2/complete"), true);
});

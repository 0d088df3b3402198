import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { loadPart } from "./load-part.ts";

/** A browser whose network the test turns on and off. */
function startBrowser(context: TestContext, { online }: { online: boolean }) {
  const network = { onLine: online };
  const listeners = new Set<() => void>();
  let reloads = 0;
  const globals = {
    navigator: network,
    window: { addEventListener: (_name: string, listener: () => void) => listeners.add(listener) },
    location: { reload: () => (reloads += 1) },
  };
  for (const [name, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true });
    context.after(() => {
      if (before === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, before);
    });
  }
  return {
    turn(on: boolean) {
      network.onLine = on;
      if (on) for (const listener of listeners) listener();
    },
    reloads: () => reloads,
  };
}

const settled = () => new Promise(setImmediate);

test("without a network a part is not asked for, and it comes as soon as there is one", async (context) => {
  const browser = startBrowser(context, { online: false });
  let asked = 0;
  const loading = loadPart(async () => (asked += 1));
  await settled();
  assert.equal(asked, 0);
  browser.turn(true);
  assert.equal(await loading, 1);
});

test("a part that fails as the network goes is loaded again when it is back, with a fresh page where the browser remembers the failure", async (context) => {
  const browser = startBrowser(context, { online: true });
  const failing = (failures: number) => async () => {
    failures -= 1;
    if (failures < 0) return "loaded";
    browser.turn(false);
    throw new TypeError("not fetched");
  };
  const once = loadPart(failing(1));
  await settled();
  browser.turn(true);
  assert.equal(await once, "loaded");
  assert.equal(browser.reloads(), 0);
  void loadPart(failing(2));
  await settled();
  browser.turn(true);
  await settled();
  assert.equal(browser.reloads(), 1);
});

test("a part that fails with a network is a failure", async (context) => {
  startBrowser(context, { online: true });
  const notThere = loadPart(async () => {
    throw new TypeError("not there");
  });
  await assert.rejects(notThere, /not there/);
});

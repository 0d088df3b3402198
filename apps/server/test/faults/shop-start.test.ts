import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { freePort } from "../support/free-port.ts";
import { cleanEnvironment } from "../support/process.ts";
import { until } from "../support/until.ts";

const start = new URL("../../../../examples/shop/start.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "assay-shop-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const noOpenssl =
  spawnSync("openssl", ["version"]).error === undefined ? false : "no openssl on this machine";

async function startShop(env: Record<string, string>) {
  const shopPort = await freePort();
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", start], {
    env: cleanEnvironment({
      SHOP_FILES: join(folder, "shop-files"),
      DATA_DIR: join(folder, "data"),
      SHOP_PORT: String(shopPort),
      SHOP_HOOK_PORT: String(await freePort()),
      ...env,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const closed = once(child, "close").then(([code]) => code as number | null);
  return { child, closed, shopUrl: `http://localhost:${shopPort}/`, output: () => output };
}

const answers = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

test("the shop starts Assay at the port that ASSAY_URL names, or at PORT", { skip: noOpenssl }, async () => {
  const port = await freePort();
  for (const env of [{ ASSAY_URL: `http://127.0.0.1:${port}` }, { PORT: String(port) }]) {
    const shop = await startShop(env as Record<string, string>);
    await until(`the shop answers\n${shop.output()}`, () => answers(shop.shopUrl));
    assert.ok(await answers(`http://127.0.0.1:${port}/readyz`));
    shop.child.kill("SIGTERM");
    await shop.closed;
    assert.equal(await answers(`http://127.0.0.1:${port}/readyz`), false);
  }
});

test("where nothing answers at an address that it cannot start Assay at, the shop says so and ends", {
  skip: noOpenssl,
}, async () => {
  const { closed, output } = await startShop({ ASSAY_URL: `https://localhost:${await freePort()}` });
  assert.equal(await closed, 1);
  assert.match(output(), /^No Assay answers at https:\S+, and it can be started here only at .*\n$/);
});

test("the shop ends with what Assay says when Assay cannot start", { skip: noOpenssl }, async () => {
  const { closed, output } = await startShop({
    ASSAY_URL: `http://127.0.0.1:${await freePort()}`,
    DATA_DIR: "/dev/null",
  });
  assert.equal(await closed, 1);
  assert.match(output(), /is not a folder, or a part of its path is a file\./);
});

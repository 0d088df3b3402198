import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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

test("the shop starts Assay at the port that ASSAY_URL names", { skip: noOpenssl }, async () => {
  const port = await freePort();
  const shop = await startShop({ ASSAY_URL: `http://127.0.0.1:${port}` });
  await until(`the shop answers\n${shop.output()}`, () => answers(shop.shopUrl));
  assert.ok(await answers(`http://127.0.0.1:${port}/readyz`));
  shop.child.kill("SIGTERM");
  await shop.closed;
  assert.equal(await answers(`http://127.0.0.1:${port}/readyz`), false);
});

test("where nothing answers at an address that it cannot start Assay at, the shop says so and ends", {
  skip: noOpenssl,
}, async () => {
  const { closed, output } = await startShop({ ASSAY_URL: `https://localhost:${await freePort()}` });
  assert.equal(await closed, 1);
  assert.match(output(), /^No Assay answers at https:\S+, and it can be started here only at .*\n$/);
});

test("without ASSAY_URL the shop starts Assay at PORT, and ends with what Assay says when it cannot start", {
  skip: noOpenssl,
}, async () => {
  // Something else is there, and is not ready.
  const other = createServer((_, answer) => answer.writeHead(503).end()).listen(0, "127.0.0.1");
  after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { closed, output } = await startShop({ PORT: String(port) });
  assert.equal(await closed, 1);
  assert.match(output(), new RegExp(`^Starting Assay at http://127\\.0\\.0\\.1:${port}\\.\\.\\.\n`));
  assert.match(output(), new RegExp(`^Another program uses port ${port}\\. `, "m"));
});

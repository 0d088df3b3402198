import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Authority } from "./certificate.ts";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const program = new URL("../../../../examples/shop/shop.ts", import.meta.url).pathname;

/** The example shop as a separate process, with a certificate that the service trusts. */
export async function startShop(assayUrl: string, authority: Authority) {
  const folder = mkdtempSync(join(tmpdir(), "assay-shop-"));
  const { cert, key } = authority.issue(["localhost"]);
  writeFileSync(join(folder, "shop-cert.pem"), cert);
  writeFileSync(join(folder, "shop-key.pem"), key);
  const [port, hookPort] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH ?? "",
    ASSAY_URL: assayUrl,
    SHOP_FILES: folder,
    SHOP_PORT: String(port),
    SHOP_HOOK_PORT: String(hookPort),
  };
  const url = `http://localhost:${port}`;
  let child: ChildProcess | null = null;
  const start = async () => {
    child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr?.on("data", (chunk) => {
      said += chunk;
    });
    const answers = () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    const started = child;
    await until("the shop answers", async () => {
      assert.equal(started.exitCode, null, said);
      return answers();
    });
  };
  const stop = async () => {
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    url,
    /** Killed at any point and started again. */
    restart: async () => {
      await stop();
      await start();
    },
    /** The answers to a webhook without a signature, and with this one. */
    send: async (signature: string, body: string): Promise<number[]> => {
      const post = (headers: Record<string, string>) =>
        fetch(`${url}/webhooks`, { method: "POST", headers, body }).then(({ status }) => status);
      return [await post({}), await post({ "x-service-signature": signature })];
    },
  };
}

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { gunzipSync } from "node:zlib";
import { startTestService } from "../../support/service.ts";

const { url } = await startTestService({ role: "api" });
const folder = mkdtempSync(path.join(tmpdir(), "assay-partner-packages-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Without a registry: what the service hands out is all that npm can reach. */
function npx(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    npm_config_cache: path.join(folder, "cache"),
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_fetch_retries: "0",
    npm_config_update_notifier: "false",
  };
  const { promise, resolve } = Promise.withResolvers<{
    status: number | null;
    stdout: string;
    stderr: string;
  }>();
  // Not waited for synchronously: the service that npm asks runs in this process.
  const child = spawn("npx", ["--yes", ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (part) => (stdout += part));
  child.stderr.on("data", (part) => (stderr += part));
  child.on("close", (status) => resolve({ status, stdout, stderr }));
  return promise;
}

test("a package that could not be packed is packed at the next request", async (t) => {
  const { readFileSync } = fs;
  const broken = t.mock.method(fs, "readFileSync", (...given: Parameters<typeof readFileSync>) => {
    if (String(given[0]).includes("assay_webhook")) throw new Error("EMFILE: too many open files");
    return readFileSync(...given);
  });
  syncBuiltinESMExports();
  const refused = await fetch(`${url}/webhook-python.tgz`);
  broken.mock.restore();
  syncBuiltinESMExports();
  assert.equal(refused.status, 500);
  assert.equal((await fetch(`${url}/webhook-python.tgz`)).status, 200);
});

test("the service hands out its command line, and npx runs it from the address alone", async () => {
  const shown = await npx(`${url}/cli.tgz`, "--help");
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /^Usage: assay COMMAND/);
});

test("the service hands out the package that opens deliveries, the same bytes at every request", async () => {
  const answer = await fetch(`${url}/webhook.tgz`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/gzip");
  const archive = Buffer.from(await answer.arrayBuffer());
  const listed = gunzipSync(archive).toString("latin1");
  for (const file of [
    "package/package.json",
    "package/lib/index.js",
    "package/lib/index.d.ts",
    "package/README.md",
  ])
    assert.ok(listed.includes(`${file}\0`), file);
  assert.ok(archive.equals(Buffer.from(await (await fetch(`${url}/webhook.tgz`)).arrayBuffer())));
  const again = await fetch(`${url}/webhook.tgz`, {
    headers: { "if-none-match": answer.headers.get("etag") ?? "" },
  });
  assert.equal(again.status, 304);
});

test("the service hands out the package for Python with its types, which pip builds from the address", async () => {
  const answer = await fetch(`${url}/webhook-python.tgz`);
  const listed = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString("latin1");
  for (const file of ["pyproject.toml", "LICENSE", "assay_webhook/__init__.py", "assay_webhook/py.typed"])
    assert.ok(listed.includes(`package/${file}\0`), file);
});

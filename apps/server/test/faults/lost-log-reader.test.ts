import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { createTestDatabase } from "../support/database.ts";
import { startAssay } from "../support/process.ts";
import { testRing } from "../support/test-ring.ts";

const dataDir = mkdtempSync(join(tmpdir(), "assay-test-"));
after(() => rmSync(dataDir, { recursive: true, force: true }));

test("a service whose log nobody reads any more goes on answering, and stops when it is told to", async () => {
  const { url, child, stop } = await startAssay({
    DATA_DIR: dataDir,
    DATABASE_URL: (await createTestDatabase()).url,
    SECRET_KEYS: testRing,
  });
  child.stdout?.destroy();
  // More lines than wait for one write, so that several writes fail.
  for (let round = 0; round < 5; round++) {
    const answers = Array.from({ length: 40 }, () => fetch(`${url}/healthz`).then(({ status }) => status));
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([200]));
  }
  assert.equal(child.exitCode, null);
  assert.equal(await stop(), 0);
});

test("a disk without room for the log costs lines, not the process", {
  skip: existsSync("/dev/full") ? false : "this system has no /dev/full",
}, async () => {
  const writer = new URL("../../src/platform/lib/log-writer.ts", import.meta.url).href;
  const script = `
    const { createLogWriter } = await import(${JSON.stringify(writer)});
    const write = createLogWriter(() => {});
    for (let batch = 0; batch < 3; batch++) {
      write("x".repeat(20_000) + "\\n");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    write("last\\n");
    process.stderr.write("alive");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
  });
  let told = "";
  child.stderr?.on("data", (chunk) => {
    told += chunk;
  });
  const [code] = await once(child, "close");
  assert.equal(`${code} ${told}`, "0 alive");
});

test("a reader that is stuck costs lines beyond some megabytes, not memory, and learns how many when it reads again", async () => {
  const writer = new URL("../../src/platform/lib/log-writer.ts", import.meta.url).href;
  const script = `
    const { createLogWriter } = await import(${JSON.stringify(writer)});
    const write = createLogWriter((lines) => write("dropped " + lines + "\\n"));
    for (let n = 0; n < 200_000; n++) write("line " + n + " " + "x".repeat(100) + "\\n");
    process.stderr.write(String(process.stdout.writableLength));
    process.stdout.once("drain", () => {
      write("after\\n");
      process.stdin.destroy();
    });
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  const [waiting] = await once(child.stderr, "data");
  assert.ok(Number(waiting) > 0 && Number(waiting) < 9 * 1024 * 1024, `${waiting} bytes wait`);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  await once(child, "close");
  const lines = output.trim().split("\n");
  const kept = lines.filter((line) => line.startsWith("line ")).length;
  assert.ok(kept > 0 && kept < 200_000);
  assert.deepEqual(lines.slice(kept), [`dropped ${200_000 - kept}`, "after"]);
});

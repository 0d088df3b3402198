import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { cleanEnvironment } from "../support/process.ts";
import { until } from "../support/until.ts";

const root = new URL("../../../../", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "assay-quiet-stop-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `npm start` with its own process group, as a terminal has one for each command. */
function npmStart() {
  const child = spawn("npm", ["start"], {
    cwd: root,
    detached: true,
    env: cleanEnvironment({ PORT: "0", LOG_FORMAT: "json", DATA_DIR: join(folder, "data") }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A program that could not be started has no id, and 0 would be the group of the tests.
  const signalGroup = (signal: NodeJS.Signals) => child.pid !== undefined && process.kill(-child.pid, signal);
  let output = "";
  let isOver = false;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  // The pipes close when the last process that holds them has ended.
  const closed = once(child, "close").then(() => {
    isOver = true;
  });
  after(() => {
    if (!isOver) signalGroup("SIGKILL");
  });
  return { closed, signalGroup, output: () => output };
}

/** Once each way. `ASSAY_TEST_STOPS=20` looks more closely. */
const stops = Number(process.env.ASSAY_TEST_STOPS ?? 2);

test("Ctrl-C ends the service and its database in order and without a word of failure, at once and under load", async () => {
  for (let round = 0; round < stops; round++) {
    const service = npmStart();
    await until("the service is ready", () => /Assay is ready on http\S+/.test(service.output()));
    const [, url] = /Assay is ready on (http\S+)/.exec(service.output()) ?? [];
    const isLoaded = round % 2 === 1;
    const wrongPassword = JSON.stringify({ email: "someone@example.com", password: "wrong" });
    const load = Array.from({ length: isLoaded ? 20 : 0 }, (_, n) =>
      n % 2 === 0
        ? fetch(`${url}/readyz`)
        : fetch(`${url}/v1/auth/sign-in/email`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: wrongPassword,
          }),
    );
    if (isLoaded) await Promise.any(load);
    service.signalGroup("SIGINT");
    await Promise.allSettled(load);
    await service.closed;
    const output = service.output();
    assert.match(output, /"message":"stopped"/, output);
    assert.doesNotMatch(output, /FATAL|PANIC|"level":"error"|connection was lost|\n\s+at |"place":/, output);
  }
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import test from "node:test";

// SIGUSR2 moves its time on by three seconds.
const script = `
  import { onStopSignal } from ${JSON.stringify(new URL("./stop-signals.ts", import.meta.url).href)};
  let aheadMs = 0;
  const real = performance.now.bind(performance);
  performance.now = () => real() + aheadMs;
  process.on("SIGUSR2", () => { aheadMs += 3000; console.log("later"); });
  onStopSignal(["SIGINT", "SIGTERM"], (signal) => console.log("stop", signal));
  process.stdin.on("data", () => console.log("alive"));
  console.log("ready");
`;

test("copies of a signal count once, and a second one ends the process", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
  const ended = once(child, "close");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  assert.equal(await next(), "ready");
  child.kill("SIGTERM");
  assert.equal(await next(), "stop SIGTERM");
  child.kill("SIGTERM");
  child.kill("SIGINT");
  child.stdin.write("?");
  assert.equal(await next(), "alive");
  child.kill("SIGUSR2");
  assert.equal(await next(), "later");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [130, null]);
});

const orphan = `
  import { onNpxEnded } from ${JSON.stringify(new URL("./stop-signals.ts", import.meta.url).href)};
  onNpxEnded(process.env, () => { console.log("npx ended"); process.exit(); });
  process.stdin.resume();
  process.stdin.on("end", () => { console.log("input ended"); process.exit(); });
  console.log("ready");
`;

for (const [event, expected] of [
  ["npx", "npx ended"],
  ["start", "input ended"],
] as const)
  test(`a process whose shell was ended by ${event} sees it: ${expected}`, async () => {
    const env = {
      PATH: process.env.PATH,
      NODE: process.execPath,
      SCRIPT: orphan,
      npm_lifecycle_event: event,
    };
    // Two commands, so that the shell stays and does not become the process.
    const command = '"$NODE" --input-type=module -e "$SCRIPT" <&3; true';
    const shell = spawn("sh", ["-c", command], { env, stdio: ["ignore", "pipe", "inherit", "pipe"] });
    assert.ok(shell.stdout);
    const lines = createInterface(shell.stdout)[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, "ready");
    const ended = once(shell, "exit");
    shell.kill("SIGTERM");
    await ended;
    if (event === "start") (shell.stdio[3] as Writable).end();
    assert.equal((await lines.next()).value, expected);
    (shell.stdio[3] as Writable).destroy();
  });

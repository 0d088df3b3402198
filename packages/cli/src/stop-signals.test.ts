import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
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

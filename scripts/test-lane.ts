// A process of the test run: it is told one file after the other and runs each as a suite, so that the service is loaded once for many of
// them. The runner (test.ts) starts several and hears from each through the reporter.
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { loadTestRunner } from "./current-test.ts";
import { describeHandle, noMoreFiles, openHandles, reported, tell } from "./test-reporter.ts";

const { describe, test } = await loadTestRunner();

/** What a file may take after its last test to close what it closes without waiting for it. */
const graceMs = 2000;

let filesBefore = 0;

process.on("message", async (file: string) => {
  if (file === noMoreFiles) return process.disconnect();
  process.env.ASSAY_TEST_FILE_NUMBER = String(filesBefore++);
  const cpuBefore = cpuSeconds();
  const whenReported = reported(file);
  describe(file, async () => {
    try {
      await import(pathToFileURL(file).href);
    } catch (error) {
      test("can be loaded", () => {
        throw error;
      });
    }
  });
  await whenReported;
  const left = await whatIsLeft();
  tell({ type: "ended", left, cpuSeconds: cpuSeconds() - cpuBefore });
});

/** Servers, processes and threads that are still there. Sockets are left out: those that clients keep for the next request close by themselves. */
async function whatIsLeft(): Promise<string[]> {
  const deadline = Date.now() + graceMs;
  for (;;) {
    const left = openHandles().filter(
      ({ constructor: { name }, listening }) =>
        name === "ChildProcess" || name === "Worker" || (name === "Server" && listening === true),
    );
    if (left.length === 0 || Date.now() > deadline) return left.map(describeHandle);
    await setTimeout(20);
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + endedChildrenSeconds();
}

/** Node does not tell what children took; Linux does, in ticks of 10 ms, once they have ended. */
function endedChildrenSeconds(): number {
  if (process.platform !== "linux") return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The second field is a name in brackets that may hold anything; cutime and cstime are the 16th and 17th.
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(13, 15);
  return (Number(user) + Number(system)) / 100;
}

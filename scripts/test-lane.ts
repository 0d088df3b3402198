// A process of the test run: it is told one file after the other and runs each as a suite, so that the service is loaded once for many of
// them. The runner (test.ts) starts several and hears from each through the reporter.
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { describeHandle, noMoreFiles, openHandles, reported, tell } from "./test-reporter.ts";

/** What a file may take after its last test to close what it closes without waiting for it. */
const graceMs = 2000;

process.on("message", async (file: string) => {
  if (file === noMoreFiles) return process.disconnect();
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
  tell({ type: "ended", left: await whatIsLeft() });
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

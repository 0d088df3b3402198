// A process of the test run. It runs test files in order, each as a suite, so that the service is loaded
// once. `node --test` has a process per file, or (`--test-isolation=none`) loads all files, with everything
// that they open, before it runs the first.
import { pathToFileURL } from "node:url";
import { loadTestRunner } from "./current-test.ts";

const { after, describe, test } = await loadTestRunner();

/** What a file may take after its last test to close what it closes without waiting for it. */
const graceMs = 2000;

type Handle = { constructor: { name: string }; [property: string]: unknown };
/** Reported once, for the file that opened them. */
const reported = new Set<Handle>();

export async function runFiles(
  files: readonly string[],
  fileTimeoutMs: number,
  quietMs: number,
): Promise<void> {
  for (const [number, file] of files.entries()) {
    process.env.ASSAY_TEST_FILE_NUMBER = String(number);
    const through = Promise.withResolvers<void>();
    describe(file, { timeout: fileTimeoutMs }, async () => {
      await import(pathToFileURL(file).href).catch((error: unknown) => {
        test("can be loaded", () => {
          throw error;
        });
      });
      // Hooks run in the order in which they were registered: this one is the last of the file.
      after(async () => {
        const left = await whatIsLeft();
        through.resolve();
        if (left.length > 0)
          throw new Error(`all its tests are done, but something was left open: ${left.join(", ")}`);
      });
    });
    await through.promise;
  }
  // A process that has nothing left to do ends by itself.
  setTimeout(() => {
    const what = [process.getActiveResourcesInfo().join(", "), ...openHandles().map(describeHandle)].join(
      "\n  ",
    );
    if (reported.size === 0)
      process.stderr.write(`all tests are done, but the process does not end; still open: ${what}\n`);
    process.exit(1);
  }, quietMs).unref();
}

/**
 * Servers, processes and threads that are still open.
 * Sockets are ignored: kept-alive client sockets close by themselves.
 */
async function whatIsLeft(): Promise<string[]> {
  const deadline = Date.now() + graceMs;
  // A server that was just asked to listen does so now.
  await new Promise((resolve) => setImmediate(resolve));
  for (;;) {
    const left = openHandles().filter(
      (handle) =>
        !reported.has(handle) &&
        (["ChildProcess", "Worker"].includes(handle.constructor.name) ||
          (handle.constructor.name === "Server" && handle.listening === true)),
    );
    if (left.length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    for (const handle of left) reported.add(handle);
    return left.map(describeHandle);
  }
}

/** Node has no public way to tell which sockets and servers are open, only how many. */
function openHandles(): Handle[] {
  const { _getActiveHandles: list } = process as unknown as { _getActiveHandles?: () => Handle[] };
  return list?.() ?? [];
}

function describeHandle(handle: Handle): string {
  const known = ["fd", "localPort", "remotePort", "readyState", "listening", "pending", "path", "threadId"];
  const seen = known.filter((name) => handle[name] !== undefined).map((name) => `${name} ${handle[name]}`);
  return `${handle.constructor.name} ${seen.join(", ")}`;
}

// Runs inside every process of the test run (test-lane.ts) and tells the runner what happens there: one JSON object a line on file descriptor 3.
import { writeSync } from "node:fs";
import { inspect } from "node:util";

/** Said to a process instead of the next file. */
export const noMoreFiles = "";

/** What the runner needs of the events of node:test. */
export type TestReport =
  | { type: "enqueued" }
  | { type: "completed" }
  | { type: "passed"; name: string; nesting: number }
  | { type: "skipped"; name: string; nesting: number; reason: string }
  | { type: "failed"; name: string; nesting: number; error: string; suiteOnly: boolean }
  /** The file is through; what it left open, and the time on a core that it took together with the processes it started and saw end. */
  | { type: "ended"; left: string[]; cpuSeconds: number };

type TestEvent = {
  type: string;
  data: {
    name: string;
    nesting: number;
    skip?: string | boolean;
    todo?: string | boolean;
    details?: { type?: string; error?: Error & { failureType?: string } };
  };
};

// The runner asks a process that does not end what keeps it.
process.on("SIGUSR2", () => {
  process.stderr.write(`still open: ${process.getActiveResourcesInfo().join(", ")}\n`);
  for (const handle of openHandles()) process.stderr.write(`  ${describeHandle(handle)}\n`);
});

type Handle = { constructor: { name: string }; [property: string]: unknown };

/** Node has no public way to tell which sockets and servers are open, only how many. */
export function openHandles(): Handle[] {
  const { _getActiveHandles: list } = process as unknown as { _getActiveHandles?: () => Handle[] };
  return list?.() ?? [];
}

export function describeHandle(handle: Handle): string {
  const known = ["fd", "localPort", "remotePort", "readyState", "listening", "pending", "path", "threadId"];
  const seen = known.filter((name) => handle[name] !== undefined).map((name) => `${name} ${handle[name]}`);
  return `${handle.constructor.name} ${seen.join(", ")}`;
}

const waiting = new Map<string, () => void>();

/** Resolves when everything about the outermost suite of this name has been told. */
export function reported(name: string): Promise<void> {
  return new Promise((resolve) => waiting.set(name, resolve));
}

// biome-ignore lint/style/noDefaultExport: node:test loads a reporter through its default export.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = [];
  for await (const { type, data } of events) {
    if (type === "test:start") {
      path.length = data.nesting;
      path[data.nesting] = data.name;
    } else if (type === "test:enqueue") tell({ type: "enqueued" });
    else if (type === "test:complete") tell({ type: "completed" });
    else if (type === "test:pass" || type === "test:fail") {
      path.length = data.nesting;
      const name = [...path, data.name].join(" > ");
      const { nesting } = data;
      const isSuite = data.details?.type === "suite";
      if (data.skip !== undefined && data.skip !== false) {
        tell({ type: "skipped", name, nesting, reason: typeof data.skip === "string" ? data.skip : "" });
      } else if (data.todo !== undefined && data.todo !== false) {
        tell({ type: "skipped", name, nesting, reason: `to do: ${data.todo}` });
      } else if (type === "test:fail") {
        const error = data.details?.error;
        const suiteOnly = error?.failureType === "subtestsFailed";
        tell({ type: "failed", name, nesting, error: describe(error), suiteOnly });
      } else if (!isSuite) {
        tell({ type: "passed", name, nesting });
      }
      if (nesting === 0) waiting.get(data.name)?.();
    }
    yield "";
  }
}

function describe(error: Error | undefined): string {
  const cause = error?.cause ?? error;
  return typeof cause === "string" ? cause : inspect(cause, { depth: 6 });
}

export function tell(event: TestReport): void {
  // The reader takes U+2028 and U+2029 for the end of a line, and JSON leaves them as they are.
  const line = JSON.stringify(event).replace(/[\u2028\u2029]/g, (sign) =>
    sign === "\u2028" ? "\\u2028" : "\\u2029",
  );
  writeSync(3, `${line}\n`);
}

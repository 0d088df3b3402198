import { spawn } from "node:child_process";
import { createWriteStream, existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { Part } from "./parts.ts";

const root = path.resolve(import.meta.dirname, "../..");

export type RanPart = {
  name: string;
  promise: string;
  command: string;
  seconds: number;
  /** Of the processes that it started and waited for. Null if the system does not report it. */
  cpuSeconds: number | null;
  counts: readonly { what: string; count: number; minimum: number }[];
  /** Why it does not hold. */
  problems: readonly string[];
};

/** The command for a part alone. */
export function commandLine({ command: [script, ...args] }: Part): string {
  const name = script === "test" ? "npm test" : `npm run ${script}`;
  return `${name} -- ${args.join(" ")}`;
}

/** A part passes if it succeeded and reached its minimum counts. */
export function judge(
  part: Part,
  ended: { code: number | null; isLate: boolean; counted: ReadonlyMap<string, number> },
): Pick<RanPart, "counts" | "problems"> {
  const counts = Object.entries(part.minimum).map(([what, minimum]) => ({
    what,
    count: ended.counted.get(what) ?? 0,
    minimum,
  }));
  const problems = [
    ...(ended.isLate ? ["It was ended because the time for all parts was over."] : []),
    ...(ended.code === 0 || ended.isLate ? [] : [`It ended with ${ended.code ?? "a signal"}.`]),
    ...counts
      .filter(({ count, minimum }) => count < minimum)
      .map(({ what, count, minimum }) => `${what}: ${count}, at least ${minimum} are needed.`),
    ...(counts.length === 0 ? ["Nothing is counted."] : []),
  ];
  return { counts, problems };
}

export async function runPart(part: Part, folder: string, deadlineMs: number): Promise<RanPart> {
  const tallyFile = path.join(folder, `${part.name}.tally`);
  const logFile = path.join(folder, `${part.name}.log`);
  rmSync(tallyFile, { force: true });
  const [startedAt, cpuBefore] = [performance.now(), childSeconds()];
  const log = createWriteStream(logFile);
  const child = spawn(process.execPath, ["scripts/run.mjs", ...part.command], {
    cwd: root,
    // A separate group, so that a late part ends with all its processes.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    // The suite kills fewer processes, because it has to be short.
    env: { ...process.env, ASSAY_TALLY_FILE: tallyFile, ASSAY_TEST_KILLS: "20" },
  });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  let isLate = false;
  const end = (signal: NodeJS.Signals) => child.pid !== undefined && process.kill(-child.pid, signal);
  const timer = setTimeout(
    () => {
      isLate = true;
      end("SIGTERM");
      setTimeout(() => child.exitCode ?? child.signalCode ?? end("SIGKILL"), 20_000).unref();
    },
    Math.max(0, deadlineMs - Date.now()),
  );
  const interrupt = () => end("SIGINT");
  process.once("SIGINT", interrupt);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  process.off("SIGINT", interrupt);
  clearTimeout(timer);
  await new Promise((resolve) => log.end(resolve));
  const cpuAfter = childSeconds();
  const counted = readTally(tallyFile, readFileSync(logFile, "utf8"));
  rmSync(tallyFile, { force: true });
  return {
    name: part.name,
    promise: part.promise,
    command: commandLine(part),
    seconds: Math.round((performance.now() - startedAt) / 1000),
    cpuSeconds: cpuBefore === null || cpuAfter === null ? null : Math.round(cpuAfter - cpuBefore),
    ...judge(part, { code, isLate, counted }),
  };
}

function readTally(file: string, log: string): Map<string, number> {
  const counted = new Map<string, number>();
  const lines = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  for (const line of lines) {
    const [, count, what = ""] = /^(\d+) (.+)$/.exec(line) ?? [];
    counted.set(what, (counted.get(what) ?? 0) + Number(count));
  }
  const [, passed] = /^(\d+) passed, \d+ failed/m.exec(log) ?? [];
  if (passed !== undefined) counted.set("tests passed", Number(passed));
  return counted;
}

/** Processor time of all children that have ended, as Linux counts it in hundredths. */
function childSeconds(): number | null {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return null;
  }
}

// The processes in which test files run. Loading the service and warming it up costs more than most files' own tests, so that files share a
// process, one after the other; a file that needs a process of its own gets one.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { noMoreFiles, type TestReport } from "./test-reporter.ts";

export type Outcome = {
  passed: number;
  failures: { name: string; text: string }[];
  /** `count` where one line stands for several. */
  skips: { name: string; reason: string; count?: number }[];
};

export type LaneOptions = {
  root: string;
  environment: Record<string, string>;
  /** A file that takes longer is ended. */
  fileTimeoutSeconds: number;
  /** A process that has nothing left to do and still does not end after this time has left something open. */
  quietSeconds: number;
};

/** What a process has gathered after so many files goes with it. */
const filesInOneProcess = 50;

const running = new Set<number>();

export function endAllLanes(): void {
  for (const pid of running) killGroup(pid);
}

/** Runs files one after the other, in one process as long as that goes well. */
export class Lane {
  readonly #options: LaneOptions;
  #process: TestProcess | null = null;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** `alone`: in a process that has run nothing before and runs nothing after. */
  async run(file: string, alone: boolean): Promise<Outcome> {
    const before = alone ? await this.close() : nothingRan();
    this.#process ??= new TestProcess(this.#options);
    const outcome = await this.#process.run(file);
    const finished = alone || this.#process.files.length >= filesInOneProcess || outcome.failures.length > 0;
    return sum(before, outcome, finished ? await this.close() : nothingRan());
  }

  /** Ends the process; one that will not end, or ends badly, is a failure. */
  async close(): Promise<Outcome> {
    const ending = this.#process;
    this.#process = null;
    return ending === null ? nothingRan() : ending.close();
  }
}

class TestProcess {
  readonly files: string[] = [];
  readonly #options: LaneOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string | null>;
  /** Why it was ended from here. */
  #verdict: string | null = null;
  #hasEnded = false;
  #toldFailures = false;
  /** Of the last file that came to its end. */
  #cpuSeconds: number | null = null;
  #output = "";
  #hear: (report: TestReport) => void = () => {};

  constructor(options: LaneOptions) {
    this.#options = options;
    const reporter = new URL("./test-reporter.ts", import.meta.url).href;
    const lane = new URL("./test-lane.ts", import.meta.url).pathname;
    // A process group of its own, so that whatever it started ends with it.
    const child = spawn(
      process.execPath,
      // Throughput counts here, not how long a collection holds up a request.
      ["--max-semi-space-size=32", `--test-reporter=${reporter}`, "--test-reporter-destination=stdout", lane],
      {
        cwd: options.root,
        detached: true,
        stdio: ["ignore", "pipe", "pipe", "pipe", "ipc"],
        env: { ...process.env, NODE_ENV: "test", ...options.environment },
      },
    );
    this.#child = child;
    running.add(child.pid ?? 0);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString("utf8")).slice(-100_000);
      });
    }
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) =>
      this.#hear(JSON.parse(line) as TestReport),
    );
    this.#ended = new Promise((resolve) => {
      child.on("error", (error) => {
        this.#verdict ??= error.message;
      });
      // Whoever has left its group and still has its output would have the run wait for good.
      child.on("exit", () => {
        setTimeout(() => {
          for (const stream of child.stdio) stream?.destroy();
        }, 2000).unref();
      });
      child.on("close", (code, signal) => {
        this.#hasEnded = true;
        // Children that outlive the test process belong to nobody any more.
        killGroup(child.pid ?? 0);
        running.delete(child.pid ?? 0);
        if (this.#verdict !== null) resolve(this.#verdict);
        else if (signal !== null) resolve(`was ended by ${signal}`);
        else resolve(code === 0 ? null : `ended with exit code ${code}`);
      });
    });
  }

  async run(file: string): Promise<Outcome> {
    this.files.push(file);
    this.#cpuSeconds = null;
    const startedAt = Date.now();
    const outcome = nothingRan();
    const limit = setTimeout(
      () => this.#end(`did not end within ${this.#options.fileTimeoutSeconds} s`),
      this.#options.fileTimeoutSeconds * 1000,
    );
    const verdict = await Promise.race([
      this.#tests(file, outcome),
      this.#ended.then((reason) => reason ?? "the process ended before its tests"),
    ]);
    clearTimeout(limit);
    const holdsNone = outcome.passed + outcome.skips.length + outcome.failures.length === 0;
    if (verdict !== null) outcome.failures.push({ name: file, text: verdict });
    else if (holdsNone) outcome.failures.push({ name: file, text: "holds no test" });
    this.#print(file, outcome, startedAt);
    return outcome;
  }

  /** Resolves with what is wrong apart from failed tests, when the file is through. */
  #tests(file: string, outcome: Outcome): Promise<string | null> {
    return new Promise((resolve) => {
      this.#hear = (report) => {
        if (report.type === "passed") outcome.passed++;
        else if (report.type === "skipped") outcome.skips.push({ name: report.name, reason: report.reason });
        else if (report.type === "failed") {
          if (!report.suiteOnly) outcome.failures.push({ name: report.name, text: report.error });
        } else if (report.type === "ended") {
          this.#cpuSeconds = report.cpuSeconds;
          resolve(
            report.left.length === 0
              ? null
              : `all its tests are done, but something was left open: ${report.left.join(", ")}`,
          );
        }
      };
      if (!this.#hasEnded) this.#child.send(file, () => {});
    });
  }

  async close(): Promise<Outcome> {
    // It has told of its failures, one that died included; how it ends tells nothing more.
    if (this.#toldFailures) killGroup(this.#child.pid ?? 0);
    else this.#child.send(noMoreFiles, () => {});
    const limit = setTimeout(
      () =>
        this.#end(
          "all tests are done, but the process does not end: something was left open (a server, a timer, a connection)",
        ),
      this.#options.quietSeconds * 1000,
    );
    const reason = await this.#ended;
    clearTimeout(limit);
    const outcome = nothingRan();
    if (reason === null || this.#toldFailures) return outcome;
    const name = this.files.length === 1 ? `${this.files[0]}` : `the process of ${this.files.join(", ")}`;
    outcome.failures.push({ name, text: reason });
    print(`FAIL  ${name}`);
    print(indent(reason));
    if (this.#output.trim() !== "") print(indent(`its output:\n${indent(this.#output.trim())}`));
    return outcome;
  }

  #end(reason: string): void {
    this.#verdict ??= reason;
    // It tells what is still open; one that cannot even do that is ended all the same.
    this.#child.kill("SIGUSR2");
    setTimeout(() => killGroup(this.#child.pid ?? 0), 500);
  }

  #print(file: string, { passed, failures, skips }: Outcome, startedAt: number): void {
    const counts = [
      `${passed} passed`,
      ...(failures.length > 0 ? [`${failures.length} failed`] : []),
      ...(skips.length > 0 ? [`${skips.length} skipped`] : []),
    ];
    const cpu = this.#cpuSeconds === null ? "" : `, ${this.#cpuSeconds.toFixed(1)} s of CPU`;
    const times = `${seconds(startedAt)}${cpu}`;
    print(`${failures.length === 0 ? "ok  " : "FAIL"}  ${file}  ${counts.join(", ")}  ${times}`);
    for (const failure of failures) print(indent(`${failure.name}\n${indent(failure.text)}`));
    if (failures.length > 0) {
      this.#toldFailures = true;
      if (this.#output.trim() !== "") print(indent(`output of ${file}:\n${indent(this.#output.trim())}`));
    }
    this.#output = "";
  }
}

function killGroup(pid: number): void {
  if (pid <= 0) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {}
}

export function nothingRan(): Outcome {
  return { passed: 0, failures: [], skips: [] };
}

function sum(...outcomes: Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((passed, outcome) => passed + outcome.passed, 0),
    failures: outcomes.flatMap(({ failures }) => failures),
    skips: outcomes.flatMap(({ skips }) => skips),
  };
}

// --- printing ---------------------------------------------------------------------------------------------------------

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

export function indent(text: string): string {
  return text.replace(/^/gm, "      ");
}

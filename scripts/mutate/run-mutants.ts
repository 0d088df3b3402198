// Starts the processes that try the mutants of a module, and ends those that hang.
import { fork } from "node:child_process";
import path from "node:path";
import type { Job, Notice, Plan, Result, Sent } from "./plan.ts";

/**
 * The tests that noticed a mutant are checked after this many mutants.
 * Larger: fewer checks, but a spoilt batch loses more.
 */
const batchSize = 10;
/** Mutants that a process gets at once. */
const shareSize = 5 * batchSize;
/** How much longer a test may take that was too slow the first time. */
const morePatience = 4;
/** Extra time for a process that loops, beyond its own limit. */
const graceMs = 15_000;

/** `module`: the address of the file that it changes. */
export type Tried = { id: string; module: string };
export type Outcome = { results: Result[]; plan: Plan; statics: number; cpuSeconds: number };
type Options = {
  lanes: number;
  env: NodeJS.ProcessEnv;
  print: (line: string) => void;
  /** Called with all results so far. */
  save: (results: ReadonlyMap<string, Result>) => void;
};

export async function runMutants(
  mutants: readonly Tried[],
  files: readonly string[],
  options: Options,
): Promise<Outcome> {
  const run = new Run(options);
  const plan = await run.makePlan(files);
  for (const { file, tests, mode, loadCpuMs } of plan.files) {
    const cpuMs = tests.reduce((sum, { cpuMs }) => sum + cpuMs, loadCpuMs);
    options.print(`${file}: ${tests.length} tests, ${(cpuMs / 1000).toFixed(1)} CPU s, "${mode}"`);
  }
  for (const test of plan.failing) options.print(`left out, since it fails without a mutant: ${test}`);
  const { results } = run;
  const queue = mutants.map(({ id }) => id);
  await inLanes(options.lanes, queue, shareSize, async (ids) => {
    await run.try({ kind: "try", plan, ids, batchSize, patience: 1 }, ids);
    queue.push(...ids.filter((id) => !results.has(id) && !run.alone.has(id)));
  });
  const alone = [...run.alone].filter((id) => !results.has(id));
  await inLanes(options.lanes, alone, 1, async (ids) => {
    while (ids.some((id) => !results.has(id)))
      await run.try({ kind: "try", plan, ids, batchSize: 1, patience: morePatience }, ids);
  });
  const isUnnoticed = (id: string) => ["survived", "uncovered"].includes(results.get(id)?.status ?? "");
  const statics = mutants.filter(({ id }) => plan.statics.includes(id) && isUnnoticed(id));
  await inLanes(options.lanes, [...statics], 1, async ([mutant]) => {
    if (mutant === undefined) return;
    for (const patience of [1, morePatience])
      if ((await run.try({ kind: "static", plan, ...mutant, patience }, [mutant.id])) === "answered") break;
  });
  return { results: [...results.values()], plan, statics: statics.length, cpuSeconds: run.cpuSeconds };
}

/** Works on several things at once, since most tests wait now and then. `work` may put something back. */
async function inLanes<T>(
  lanes: number,
  queue: T[],
  size: number,
  work: (some: T[]) => Promise<void>,
): Promise<void> {
  const lane = async () => {
    while (queue.length > 0) await work(queue.splice(0, size));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

class Run {
  readonly results = new Map<string, Result>();
  /** Mutants that get a process for themselves. */
  readonly alone = new Set<string>();
  readonly #stopped = new Set<string>();
  readonly #distrusted = new Set<string>();
  readonly #options: Options;
  cpuSeconds = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  async makePlan(files: readonly string[]): Promise<Plan> {
    const plans: Plan[] = [];
    await this.#runProcess({ kind: "plan", files }, (message) => {
      if (message.kind === "planned") plans.push(message.plan);
    });
    const [plan] = plans;
    if (plan === undefined) throw new Error("The tests could not be run without a mutant.");
    return plan;
  }

  async try(job: Exclude<Job, { kind: "plan" }>, ids: readonly string[]): Promise<"answered" | "stopped"> {
    const { print } = this.#options;
    let hasAnswered = false;
    const stoppedBy = await this.#runProcess(job, (message) => {
      hasAnswered ||= message.kind === "results" || message.kind === "spoilt";
      if (message.kind === "results") {
        for (const result of message.results) this.results.set(result.id, result);
        print(`${this.results.size} done`);
        this.#options.save(this.results);
      } else if (message.kind === "mode" || message.kind === "unsteady") {
        const { file, test, reason } = message.by;
        const planned = job.plan.files.find((one) => one.file === file);
        const change = message.kind === "mode" ? `is run as "${message.mode}"` : "goes on without a test";
        print(`${file} ${change}, since this failed without a mutant: ${test}: ${reason}`);
        if (planned === undefined) return;
        if (message.kind === "mode") planned.mode = message.mode;
        else planned.tests = planned.tests.filter(({ name }) => name !== test);
      } else if (message.kind === "spoilt") this.#distrust(message.ids);
    });
    // A process that ended silently was ended by its first mutant.
    const id = stoppedBy?.id ?? (hasAnswered ? undefined : ids[0]);
    if (id === undefined) return "answered";
    this.#stop(id, stoppedBy?.by ?? null);
    return "stopped";
  }

  /** Results of a spoilt process are tried again, then each mutant in a separate process, then skipped. */
  #distrust(ids: readonly string[]): void {
    this.#options.print(`${ids.length} once more, since a test that noticed one fails now without`);
    for (const id of ids) {
      if (this.alone.has(id)) this.results.set(id, { id, status: "survived", isCutShort: true });
      if (this.#distrusted.has(id)) this.alone.add(id);
      this.#distrusted.add(id);
    }
  }

  /** A machine that is busy must not count as a test that noticed something: it takes two times. */
  #stop(id: string, by: Notice | null): void {
    if (this.#stopped.has(id))
      this.results.set(id, { id, status: "timeout", ...(by === null ? {} : { by }) });
    this.#stopped.add(id);
    this.alone.add(id);
  }

  /** The mutant with which the process hung or broke off. */
  #runProcess(
    job: Job,
    onMessage: (message: Sent) => void,
  ): Promise<{ id: string; by: Notice | null } | null> {
    const child = fork(path.join(import.meta.dirname, "worker.ts"), {
      env: this.#options.env,
      execArgv: ["--import", path.join(import.meta.dirname, "hooks.ts"), "--max-old-space-size=3000"],
      serialization: "advanced",
    });
    let at: string | null = null;
    let by: Notice | null = null;
    let cpuSeconds = 0;
    let timer: NodeJS.Timeout | undefined;
    child.on("message", (message: Sent) => {
      clearTimeout(timer);
      cpuSeconds = message.cpuSeconds;
      if (message.kind === "beat") {
        at = message.id;
        timer = setTimeout(() => child.kill("SIGKILL"), message.maxMs + graceMs);
      } else at = null;
      if (message.kind === "late") [at, by] = [message.id, message.by];
      onMessage(message);
    });
    child.send(job);
    return new Promise((resolve) => {
      child.on("exit", () => {
        clearTimeout(timer);
        this.cpuSeconds += cpuSeconds;
        resolve(at === null ? null : { id: at, by });
      });
    });
  }
}

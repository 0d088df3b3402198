import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "../../platform/lib/log.ts";
import { withoutNetwork } from "../../platform/lib/network-namespace.ts";
import { killedWithParent } from "../../platform/lib/parent-death.ts";
import { WaitingLine } from "../../platform/lib/waiting-line.ts";
import type {
  FaceJob,
  FaceJobResult,
  FaceLook,
  FaceLookResult,
  FaceTask,
  FromWorker,
  ToWorker,
} from "./face-job.ts";
import { poolLimits } from "./pool-limits.ts";

export type WorkerFaultReason =
  /** The queue is full, or a try waited too long. */
  "busy" | "worker_died" | "worker_error" | "timed_out" | "memory_exceeded" | "models_unavailable" | "closed";

/** Says nothing about the person: the service could not judge. */
export class WorkerFault extends Error {
  readonly reason: WorkerFaultReason;

  constructor(reason: WorkerFaultReason) {
    super(`The face worker gave no answer: ${reason}`);
    this.reason = reason;
  }
}

export type FaceWorkerPoolOptions = {
  readonly log: Log;
  /** Each takes up to 300 MB and one core while it works. */
  readonly workers?: number;
  /** Tries that may wait; one more is refused at once. */
  readonly queueLimit?: number;
  readonly maxWaitMs?: number;
  readonly jobTimeoutMs?: number;
  readonly lookTimeoutMs?: number;
  readonly startTimeoutMs?: number;
  /** An idle worker is ended after this time to free its memory. */
  readonly idleMs?: number;
  /** A worker that holds more is ended, if necessary during its work. */
  readonly maxResidentBytes?: number;
  /** Address of a module with `loadFaceModels`, for other models. */
  readonly modelsModule?: string;
  /** Address of a module with `loadAttackDetector`, the operator's own. */
  readonly detectorModule?: string;
  /** Folders of these modules and their weights. A worker may also read its source and packages. */
  readonly readableFolders?: readonly string[];
};

type Work = {
  readonly task: FaceTask;
  readonly resolve: (result: FaceJobResult | FaceLookResult) => void;
  readonly reject: (fault: WorkerFault) => void;
};

type Waiting = Work & {
  readonly tooLong: NodeJS.Timeout;
};

type Worker = {
  readonly child: ChildProcess;
  state: "starting" | "idle" | "busy" | "ending";
  id: number;
  work: Work | null;
  endedFor: WorkerFaultReason | null;
  limit: NodeJS.Timeout | undefined;
  watch: NodeJS.Timeout | undefined;
};

export class FaceWorkerPool {
  readonly #options: Required<Omit<FaceWorkerPoolOptions, "modelsModule" | "detectorModule">> & {
    readonly modelsModule: string | null;
    readonly detectorModule: string | null;
  };
  readonly #workers = new Set<Worker>();
  readonly #waiting: WaitingLine<Waiting>;
  #failedStarts = 0;
  #nextId = 1;
  #closed = false;

  constructor(options: FaceWorkerPoolOptions) {
    this.#options = {
      workers: poolLimits.workers,
      queueLimit: poolLimits.queuePerWorker * (options.workers ?? poolLimits.workers),
      maxWaitMs: poolLimits.maxWaitMs,
      jobTimeoutMs: poolLimits.jobTimeoutMs,
      lookTimeoutMs: poolLimits.lookTimeoutMs,
      startTimeoutMs: poolLimits.startTimeoutMs,
      idleMs: poolLimits.idleMs,
      maxResidentBytes: poolLimits.maxResidentBytes,
      readableFolders: [],
      modelsModule: null,
      detectorModule: null,
      ...options,
    };
    this.#waiting = new WaitingLine(this.#options.queueLimit);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** For tests and the operator: the processes that see pictures. */
  get processIds(): readonly number[] {
    return [...this.#workers].flatMap(({ child }) => (child.pid === undefined ? [] : [child.pid]));
  }

  /** Starts a worker if none runs, so that the models are loaded before the pictures come. */
  warmUp(): void {
    if (!this.#closed && this.#workers.size === 0) this.#start();
  }

  /** The sandbox may fill half of the queue. All organizations share it: it is too short for one each. */
  hasCapacity({ sandbox }: { readonly sandbox: boolean }): boolean {
    return this.#waiting.hasCapacity({ sandbox, organization: null });
  }

  /** Live tries come before those of the sandbox; among equals, the first come. */
  run(job: FaceJob, { sandbox }: { readonly sandbox: boolean }): Promise<FaceJobResult> {
    if (this.#closed) return Promise.reject(new WorkerFault("closed"));
    if (!this.hasCapacity({ sandbox })) return Promise.reject(new WorkerFault("busy"));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        task: { kind: "job", job },
        resolve: (result) =>
          result.kind === "seen" ? reject(new WorkerFault("worker_error")) : resolve(result),
        reject,
        tooLong: setTimeout(() => {
          if (this.#waiting.remove(waiting)) reject(new WorkerFault("busy"));
        }, this.#options.maxWaitMs),
      };
      this.#waiting.add(waiting, { sandbox, organization: null });
      this.#next();
    });
  }

  /**
   * Examines one frame during the capture if a worker is idle; null otherwise. It never queues, so it takes
   * no slot from a try that has to be judged.
   */
  look(look: FaceLook): Promise<FaceLookResult> | null {
    const idle = this.#closed || this.#waiting.length > 0 ? null : this.#idleWorker();
    if (idle === null) return null;
    return new Promise((resolve, reject) => {
      const work: Work = {
        task: { kind: "look", look },
        resolve: (result) =>
          result.kind === "seen" || result.kind === "frame_unreadable"
            ? resolve(result)
            : reject(new WorkerFault("worker_error")),
        reject,
      };
      this.#give(idle, work, this.#options.lookTimeoutMs);
    });
  }

  #idleWorker(): Worker | null {
    return [...this.#workers].find(({ state }) => state === "idle") ?? null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#giveUpAll("closed");
    const ended = [...this.#workers].map(
      ({ child }) => new Promise<void>((resolve) => child.once("exit", () => resolve())),
    );
    for (const worker of this.#workers) this.#end(worker, "closed");
    await Promise.all(ended);
  }

  #giveUpAll(reason: WorkerFaultReason): void {
    for (const waiting of this.#waiting.removeAll()) {
      clearTimeout(waiting.tooLong);
      waiting.reject(new WorkerFault(reason));
    }
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const idle = this.#idleWorker();
      if (idle === null) break;
      const waiting = this.#waiting.next();
      if (waiting === null) break;
      clearTimeout(waiting.tooLong);
      this.#give(idle, waiting, this.#options.jobTimeoutMs);
    }
    const starting = [...this.#workers].filter(({ state }) => state === "starting").length;
    if (this.#waiting.length > starting && this.#workers.size < this.#options.workers && !this.#closed)
      this.#start();
  }

  #give(worker: Worker, work: Work, timeoutMs: number): void {
    clearTimeout(worker.limit);
    worker.state = "busy";
    worker.work = work;
    worker.id = this.#nextId++;
    worker.limit = setTimeout(() => {
      // An answer may have arrived in time while this process was busy. It is read before the next turn.
      setImmediate(() => {
        if (worker.work === work) this.#end(worker, "timed_out");
      });
    }, timeoutMs);
    worker.watch = setInterval(() => this.#checkMemory(worker), poolLimits.memoryCheckMs);
    const message: ToWorker = { ...work.task, id: worker.id };
    worker.child.send(message, (error) => {
      if (error !== null) this.#end(worker, "worker_died");
    });
  }

  #start(): void {
    const { modelsModule, detectorModule, readableFolders } = this.#options;
    // While it decodes it handles no messages, so it needs a signal when this process dies. Entering a
    // namespace resets that signal, so `withoutNetwork` comes first.
    const [program = process.execPath, ...before] = [
      ...(withoutNetwork() ?? []),
      ...killedWithParent(),
      process.execPath,
    ];
    const child = fork(workerFile, [modelsModule ?? "", detectorModule ?? ""], {
      execPath: program,
      // It decodes untrusted pictures: no secret in its environment, no permission to write files or start
      // programs, and no network if the system can remove it. It can still signal processes of its user and
      // connect to sockets in the file system. The database asks for a password that it cannot read.
      env: {},
      execArgv: [
        ...before,
        "--permission",
        // The runtime of the networks is native code, which no permission restricts. It only gets numbers:
        // untrusted pictures are decoded in WebAssembly before.
        "--allow-addons",
        ...[...ownFolders(), ...readableFolders].map((folder) => `--allow-fs-read=${folder}`),
        `--max-old-space-size=${poolLimits.heapMegabytes}`,
        "--disable-warning=ExperimentalWarning",
        ...withoutSqlite,
      ],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const worker: Worker = {
      child,
      state: "starting",
      id: 0,
      work: null,
      endedFor: null,
      limit: setTimeout(() => this.#end(worker, "timed_out"), this.#options.startTimeoutMs),
      watch: undefined,
    };
    this.#workers.add(worker);
    child.on("message", (message) => this.#onMessage(worker, message as FromWorker));
    child.on("error", () => this.#end(worker, "worker_died"));
    child.once("exit", () => this.#onExit(worker));
  }

  #onMessage(worker: Worker, message: FromWorker): void {
    if (worker.state === "ending") return;
    if (message.kind === "ready") {
      this.#failedStarts = 0;
      this.#rest(worker);
      return;
    }
    const { work } = worker;
    if (work === null || message.id !== worker.id) return;
    worker.work = null;
    if (message.kind === "error") {
      this.#options.log.warn("a face worker met an error", { kind: message.name });
      work.reject(new WorkerFault("worker_error"));
      // The state of the models is unknown, so the next try gets a new process.
      this.#end(worker, "worker_error");
      return;
    }
    if (message.residentBytes > this.#options.maxResidentBytes) this.#end(worker, "memory_exceeded");
    else this.#rest(worker);
    work.resolve(message.result);
  }

  #rest(worker: Worker): void {
    clearTimeout(worker.limit);
    clearInterval(worker.watch);
    worker.state = "idle";
    worker.limit = setTimeout(() => this.#end(worker, null), this.#options.idleMs);
    this.#next();
  }

  #end(worker: Worker, reason: WorkerFaultReason | null): void {
    if (worker.state === "ending") return;
    const wasStarting = worker.state === "starting";
    worker.state = "ending";
    worker.endedFor = reason;
    clearTimeout(worker.limit);
    clearInterval(worker.watch);
    if (wasStarting && reason === "timed_out") this.#failedStarts++;
    worker.child.kill("SIGKILL");
  }

  #onExit(worker: Worker): void {
    if (worker.state === "starting") this.#failedStarts++;
    clearTimeout(worker.limit);
    clearInterval(worker.watch);
    this.#workers.delete(worker);
    const reason = worker.endedFor ?? "worker_died";
    if (worker.state !== "ending" || (reason !== "closed" && worker.endedFor !== null))
      this.#options.log.warn("a face worker ended", { reason, state: worker.state });
    worker.state = "ending";
    worker.work?.reject(new WorkerFault(reason));
    worker.work = null;
    if (this.#failedStarts >= poolLimits.maxStartAttempts) {
      this.#failedStarts = 0;
      this.#giveUpAll("models_unavailable");
    }
    this.#next();
  }

  /**
   * No limit of the runtime covers the memory of WebAssembly, so it is measured from here. Other systems than
   * Linux allow that only between jobs.
   */
  #checkMemory(worker: Worker): void {
    const resident = residentBytesOf(worker.child.pid);
    if (resident !== null && resident > this.#options.maxResidentBytes) this.#end(worker, "memory_exceeded");
  }
}

const workerFile = fileURLToPath(new URL("./face-worker.ts", import.meta.url));

/** `node:sqlite` bypasses the permissions and can write files. A later Node may have no such option. */
const withoutSqlite: readonly string[] = process.allowedNodeEnvironmentFlags.has("--experimental-sqlite")
  ? ["--no-experimental-sqlite"]
  : [];

const pageBytes = 4096;

function residentBytesOf(pid: number | undefined): number | null {
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1];
    return pages === undefined ? null : Number(pages) * pageBytes;
  } catch {
    return null;
  }
}

/** The worker itself, the packages it loads, and the files that configure how Node loads them. */
function ownFolders(): readonly string[] {
  const server = fileURLToPath(new URL("../../../", import.meta.url));
  const project = path.resolve(server, "../../..");
  const require = createRequire(import.meta.url);
  return [
    path.dirname(workerFile),
    path.join(server, "package.json"),
    path.join(server, "node_modules"),
    path.join(project, "package.json"),
    path.resolve(path.dirname(require.resolve("onnxruntime-node")), "../../.."),
    path.join(project, "packages"),
  ];
}

import { type ChildProcess, fork } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "../lib/log.ts";
import type { FaceJob, FaceJobResult, FromWorker, ToWorker } from "./face-job.ts";
import { poolLimits } from "./pool-limits.ts";

export type WorkerFaultReason =
  /** As many tries wait as may, or one waited too long. */
  "busy" | "worker_died" | "worker_error" | "timed_out" | "memory_exceeded" | "models_unavailable" | "closed";

/** Nothing was found out about the person; it is the service that could not look. */
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
  readonly startTimeoutMs?: number;
  /** A worker without work gives its memory back after this time. */
  readonly idleMs?: number;
  /** A worker that holds more is ended, in the middle of its work if need be. */
  readonly maxResidentBytes?: number;
  /** Address of a module with `loadFaceModels`, for other models. */
  readonly modelsModule?: string;
  /** What that module and its weights lie in; a worker may read nothing else but its own source and packages. */
  readonly readableFolders?: readonly string[];
};

type Waiting = {
  readonly job: FaceJob;
  readonly sandbox: boolean;
  readonly resolve: (result: FaceJobResult) => void;
  readonly reject: (fault: WorkerFault) => void;
  readonly tooLong: NodeJS.Timeout;
};

type Worker = {
  readonly child: ChildProcess;
  state: "starting" | "idle" | "busy" | "ending";
  id: number;
  job: Waiting | null;
  endedFor: WorkerFaultReason | null;
  limit: NodeJS.Timeout | undefined;
  watch: NodeJS.Timeout | undefined;
};

export class FaceWorkerPool {
  readonly #options: Required<Omit<FaceWorkerPoolOptions, "modelsModule">> & {
    readonly modelsModule: string | null;
  };
  readonly #workers = new Set<Worker>();
  readonly #waiting: Waiting[] = [];
  #failedStarts = 0;
  #nextId = 1;
  #closed = false;

  constructor(options: FaceWorkerPoolOptions) {
    this.#options = {
      workers: poolLimits.workers,
      queueLimit: poolLimits.queueLimit,
      maxWaitMs: poolLimits.maxWaitMs,
      jobTimeoutMs: poolLimits.jobTimeoutMs,
      startTimeoutMs: poolLimits.startTimeoutMs,
      idleMs: poolLimits.idleMs,
      maxResidentBytes: poolLimits.maxResidentBytes,
      readableFolders: [],
      modelsModule: null,
      ...options,
    };
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** For tests and the operator: the processes that see pictures. */
  get processIds(): readonly number[] {
    return [...this.#workers].flatMap(({ child }) => (child.pid === undefined ? [] : [child.pid]));
  }

  /** Starts a worker when none runs, so that the models are loaded when the pictures come. */
  warmUp(): void {
    if (!this.#closed && this.#workers.size === 0) this.#start();
  }

  /** The sandbox may fill half of the queue at most, so that trying things out keeps nobody from a live verification. */
  hasPlace({ sandbox }: { readonly sandbox: boolean }): boolean {
    const limit = this.#options.queueLimit;
    return this.#waiting.length < (sandbox ? Math.ceil(limit / 2) : limit);
  }

  /** Live tries come before those of the sandbox; among equals, the first come. */
  run(job: FaceJob, { sandbox }: { readonly sandbox: boolean }): Promise<FaceJobResult> {
    if (this.#closed) return Promise.reject(new WorkerFault("closed"));
    if (!this.hasPlace({ sandbox })) return Promise.reject(new WorkerFault("busy"));
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        job,
        sandbox,
        resolve,
        reject,
        tooLong: setTimeout(() => this.#giveUp(waiting, "busy"), this.#options.maxWaitMs),
      };
      const behind = sandbox ? -1 : this.#waiting.findIndex((other) => other.sandbox);
      this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, waiting);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of [...this.#waiting]) this.#giveUp(waiting, "closed");
    const ended = [...this.#workers].map(
      ({ child }) => new Promise<void>((resolve) => child.once("exit", () => resolve())),
    );
    for (const worker of this.#workers) this.#end(worker, "closed");
    await Promise.all(ended);
  }

  #giveUp(waiting: Waiting, reason: WorkerFaultReason): void {
    const index = this.#waiting.indexOf(waiting);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    clearTimeout(waiting.tooLong);
    waiting.reject(new WorkerFault(reason));
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      const idle = [...this.#workers].find(({ state }) => state === "idle");
      if (idle === undefined) break;
      const waiting = this.#waiting.shift();
      if (waiting !== undefined) this.#give(idle, waiting);
    }
    const starting = [...this.#workers].filter(({ state }) => state === "starting").length;
    if (this.#waiting.length > starting && this.#workers.size < this.#options.workers && !this.#closed)
      this.#start();
  }

  #give(worker: Worker, waiting: Waiting): void {
    clearTimeout(waiting.tooLong);
    clearTimeout(worker.limit);
    worker.state = "busy";
    worker.job = waiting;
    worker.id = this.#nextId++;
    worker.limit = setTimeout(() => this.#end(worker, "timed_out"), this.#options.jobTimeoutMs);
    worker.watch = setInterval(() => this.#lookAtMemory(worker), poolLimits.memoryLookMs);
    const message: ToWorker = { kind: "job", id: worker.id, job: waiting.job };
    worker.child.send(message, (error) => {
      if (error !== null) this.#end(worker, "worker_died");
    });
  }

  #start(): void {
    const file = fileURLToPath(new URL("./face-worker.ts", import.meta.url));
    const { modelsModule, readableFolders } = this.#options;
    const child = fork(file, modelsModule === null ? [] : [modelsModule], {
      // It decodes what strangers send: no secret in its environment, no file it could write, no program it could start.
      env: {},
      execArgv: [
        "--permission",
        // The runtime of the networks is native code, which no permission binds. It is given numbers; what strangers send is decoded in WebAssembly before.
        "--allow-addons",
        ...[...ownFolders(), ...readableFolders].map((folder) => `--allow-fs-read=${folder}`),
        `--max-old-space-size=${poolLimits.heapMegabytes}`,
        "--disable-warning=ExperimentalWarning",
      ],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const worker: Worker = {
      child,
      state: "starting",
      id: 0,
      job: null,
      endedFor: null,
      limit: setTimeout(() => this.#end(worker, "timed_out"), this.#options.startTimeoutMs),
      watch: undefined,
    };
    this.#workers.add(worker);
    child.on("message", (message) => this.#hear(worker, message as FromWorker));
    child.on("error", () => this.#end(worker, "worker_died"));
    child.once("exit", () => this.#gone(worker));
  }

  #hear(worker: Worker, message: FromWorker): void {
    if (worker.state === "ending") return;
    if (message.kind === "ready") {
      this.#failedStarts = 0;
      this.#rest(worker);
      return;
    }
    const { job } = worker;
    if (job === null || message.id !== worker.id) return;
    worker.job = null;
    if (message.kind === "error") {
      this.#options.log.warn("a face worker met an error", { kind: message.name });
      job.reject(new WorkerFault("worker_error"));
      // Whatever state the models are in now, the next try gets a fresh process.
      this.#end(worker, "worker_error");
      return;
    }
    job.resolve(message.result);
    if (message.residentBytes > this.#options.maxResidentBytes) this.#end(worker, "memory_exceeded");
    else this.#rest(worker);
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

  #gone(worker: Worker): void {
    if (worker.state === "starting") this.#failedStarts++;
    clearTimeout(worker.limit);
    clearInterval(worker.watch);
    this.#workers.delete(worker);
    const reason = worker.endedFor ?? "worker_died";
    if (worker.state !== "ending" || (reason !== "closed" && worker.endedFor !== null))
      this.#options.log.warn("a face worker ended", { reason, state: worker.state });
    worker.state = "ending";
    worker.job?.reject(new WorkerFault(reason));
    worker.job = null;
    if (this.#failedStarts >= poolLimits.startAttempts) {
      this.#failedStarts = 0;
      for (const waiting of [...this.#waiting]) this.#giveUp(waiting, "models_unavailable");
    }
    this.#next();
  }

  /** Memory of WebAssembly is outside every limit of the runtime, so it is looked at from here; elsewhere than on Linux only between jobs. */
  #lookAtMemory(worker: Worker): void {
    const resident = residentBytesOf(worker.child.pid);
    if (resident !== null && resident > this.#options.maxResidentBytes) this.#end(worker, "memory_exceeded");
  }
}

const pageBytes = 4096;

function residentBytesOf(pid: number | undefined): number | null {
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1];
    return pages === undefined ? null : Number(pages) * pageBytes;
  } catch {
    return null;
  }
}

/** The worker's source, the packages it loads, and the files that tell Node how to load them. */
function ownFolders(): readonly string[] {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const server = path.resolve(here, "../..");
  const project = path.resolve(server, "../..");
  const require = createRequire(import.meta.url);
  const packages = path.resolve(path.dirname(require.resolve("onnxruntime-node")), "../..");
  const emrtd = realpathSync(path.dirname(require.resolve("@assay/emrtd/lds/image")));
  const face = realpathSync(path.dirname(require.resolve("@assay/face/identity")));
  return [
    here,
    path.join(server, "package.json"),
    path.join(server, "node_modules"),
    path.join(project, "package.json"),
    packages,
    path.resolve(emrtd, ".."),
    path.resolve(emrtd, "../../package.json"),
    face,
    path.resolve(face, "../networks"),
    path.resolve(face, "../package.json"),
  ];
}

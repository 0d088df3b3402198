import { Worker } from "node:worker_threads";
import { WaitingLine, type Who } from "./waiting-line.ts";

/** The queue is full (admission control). The caller may retry shortly. */
export class PoolBusyError extends Error {
  constructor() {
    super("every worker is busy and the queue is full");
  }
}

/** The thread of the task ended, or was killed because it took too long. The task may be run again. */
export class WorkerLostError extends Error {
  constructor() {
    super("the thread of this task has ended");
  }
}

type Waiting<Task, Answer> = {
  task: Task;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
};

type Thread<Task, Answer> = {
  worker: Worker;
  busyWith: Waiting<Task, Answer> | null;
  timer: NodeJS.Timeout | undefined;
};

/**
 * The message of a worker thread. Of an error only its name is passed on, because its message might quote the
 * input.
 */
export type WorkerAnswer<Answer> = { answer: Answer } | { failed: string };

export type WorkerPoolOptions = {
  threads: number;
  /** Tasks that may wait when every thread is busy. */
  maxWaiting: number;
  /** A thread that takes longer for one task is ended. */
  taskMs: number;
};

/**
 * A pool of threads that run one module, each one task at a time. Threads start on demand and are replaced
 * when they end. The queue is bounded and fair (`waiting-line.ts`): a task that does not fit is refused at
 * once.
 */
export class WorkerPool<Task, Answer> {
  readonly #module: URL;
  readonly #options: WorkerPoolOptions;
  readonly #workerData: unknown;
  readonly #threads = new Set<Thread<Task, Answer>>();
  readonly #waiting: WaitingLine<Waiting<Task, Answer>>;
  #closed = false;

  constructor(module: URL, options: WorkerPoolOptions, workerData: unknown = null) {
    this.#module = module;
    this.#options = options;
    this.#workerData = workerData;
    this.#waiting = new WaitingLine(options.maxWaiting);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  run(task: Task, who: Who): Promise<Answer> {
    if (this.#closed) return Promise.reject(new WorkerLostError());
    return new Promise((resolve, reject) => {
      const entry = { task, resolve, reject };
      const thread = this.#free();
      if (thread !== null) {
        this.#waiting.served(who);
        this.#give(thread, entry);
      } else if (this.#waiting.hasCapacity(who)) this.#waiting.add(entry, who);
      else reject(new PoolBusyError());
    });
  }

  #free(): Thread<Task, Answer> | null {
    for (const thread of this.#threads) if (thread.busyWith === null) return thread;
    return this.#threads.size < this.#options.threads ? this.#start() : null;
  }

  #start(): Thread<Task, Answer> {
    const worker = new Worker(this.#module, { workerData: this.#workerData });
    const thread: Thread<Task, Answer> = { worker, busyWith: null, timer: undefined };
    this.#threads.add(thread);
    // An idle thread does not keep the process alive.
    worker.unref();
    worker.on("message", (message: WorkerAnswer<Answer>) => {
      const done = this.#release(thread);
      if ("answer" in message) done?.resolve(message.answer);
      else done?.reject(new Error(`a worker failed: ${message.failed}`));
      this.#next(thread);
    });
    // "error" is followed by "exit"; without a listener it would end the process.
    worker.on("error", () => {});
    worker.on("exit", () => {
      this.#threads.delete(thread);
      this.#release(thread)?.reject(new WorkerLostError());
      if (!this.#closed && this.#waiting.length > 0) this.#next(this.#start());
    });
    return thread;
  }

  #give(thread: Thread<Task, Answer>, entry: Waiting<Task, Answer>): void {
    thread.busyWith = entry;
    thread.worker.ref();
    thread.timer = setTimeout(() => void thread.worker.terminate(), this.#options.taskMs);
    thread.worker.postMessage(entry.task);
  }

  #release(thread: Thread<Task, Answer>): Waiting<Task, Answer> | null {
    clearTimeout(thread.timer);
    thread.worker.unref();
    const { busyWith } = thread;
    thread.busyWith = null;
    return busyWith;
  }

  #next(thread: Thread<Task, Answer>): void {
    const entry = this.#waiting.next();
    if (entry !== null) this.#give(thread, entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.removeAll()) reject(new WorkerLostError());
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }
}

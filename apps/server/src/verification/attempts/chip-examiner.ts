import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import {
  type ChipProofState,
  type ChipProofStep,
  type ProofFiles,
  proofFiles,
} from "@assay/emrtd/verify/prove-chip";
import type { ChipProof } from "@assay/emrtd/verify/report";
import type { Who } from "../../platform/lib/waiting-line.ts";
import {
  PoolBusyError,
  WorkerLostError,
  WorkerPool,
  type WorkerPoolOptions,
} from "../../platform/lib/worker-pool.ts";
import type { TrustSnapshot } from "../trust/trust-snapshot.ts";
import type { ChipTask, ChipTaskAnswer, DocumentCheck, SentFiles } from "./chip-task.ts";

/** What carries out tasks: threads of this process. */
export type ChipPool = {
  /** Tasks that wait for a thread. */
  readonly waiting: number;
  run(task: ChipTask, who: Who): Promise<unknown>;
  close(): Promise<void>;
};

export type ExaminerOptions = Partial<WorkerPoolOptions> & {
  /** For tests: used instead of new threads. */
  pool?: ChipPool;
  /** As in `TRUST_POLICY`; the default policy unless given. */
  policy?: string;
  retryMs?: number;
  patienceMs?: number;
};

/** Who the check is for. */
export type Asking = Who & {
  /** Called once when the queue is full, so that the check takes longer. */
  readonly onBusy: () => void;
};

const maxLostTaskRetries = 2;

export function openChipThreads(options: Partial<WorkerPoolOptions> = {}): WorkerPool<ChipTask, unknown> {
  return new WorkerPool(new URL("./chip-worker.ts", import.meta.url), {
    threads: options.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1)),
    maxWaiting: options.maxWaiting ?? 64,
    taskMs: options.taskMs ?? 30_000,
  });
}

/** Runs the checks of the chip in threads. The task of a lost thread is given to another one. */
export class ChipExaminer {
  readonly #pool: ChipPool;
  /** The same in sandbox and live, so that partners see in the sandbox what will be refused. */
  readonly #policy: string;
  readonly #retryMs: number;
  readonly #patienceMs: number;
  readonly #closing = new AbortController();

  constructor(options: ExaminerOptions = {}) {
    this.#pool = options.pool ?? openChipThreads(options);
    this.#policy = options.policy ?? "";
    this.#retryMs = options.retryMs ?? 250;
    this.#patienceMs = options.patienceMs ?? 5 * 60_000;
  }

  get waiting(): number {
    return this.#pool.waiting;
  }

  verify(
    input: { trust: TrustSnapshot | "test_country"; files: SentFiles; now: Date },
    asking: Asking,
  ): Promise<DocumentCheck> {
    const { trust, files, now } = input;
    return this.#run({ kind: "verify", trust, files, policy: this.#policy, nowMs: now.getTime() }, asking);
  }

  beginProof(proof: ChipProof, files: ProofFiles, asking: Asking): Promise<ChipProofStep> {
    return this.#run({ kind: "begin_proof", proof, files: proofFilesOf(files) }, asking);
  }

  continueProof(
    state: ChipProofState,
    answers: readonly Uint8Array[],
    files: ProofFiles,
    asking: Asking,
  ): Promise<ChipProofStep> {
    return this.#run({ kind: "continue_proof", state, answers, files: proofFilesOf(files) }, asking);
  }

  /** Sandbox only: how the face check of this test document is meant to end. */
  simulateFace(sod: Uint8Array, now: Date, asking: Asking): Promise<ChipTaskAnswer["find_test_document"]> {
    return this.#run({ kind: "find_test_document", sod, nowMs: now.getTime() }, asking);
  }

  async #run<T extends ChipTask>(
    task: T,
    { sandbox, organization, onBusy }: Asking,
  ): Promise<ChipTaskAnswer[T["kind"]]> {
    let lost = 0;
    let notified = false;
    for (let waitedMs = 0; ; ) {
      try {
        return (await this.#pool.run(task, { sandbox, organization })) as ChipTaskAnswer[T["kind"]];
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (error instanceof WorkerLostError && lost++ < maxLostTaskRetries) continue;
        if (!(error instanceof PoolBusyError) || waitedMs >= this.#patienceMs) throw error;
        if (!notified) onBusy();
        notified = true;
        // With jitter, so that waiting checks do not all try again at the same moment.
        const pauseMs = this.#retryMs * (0.5 + Math.random());
        await delay(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {});
        waitedMs += pauseMs;
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pool.close();
  }
}

/** Only the files that a proof needs, so that the portrait is not copied to the thread. */
function proofFilesOf(files: ProofFiles): ProofFiles {
  return Object.fromEntries(
    proofFiles.flatMap((name) => (files[name] === undefined ? [] : [[name, files[name]]])),
  );
}

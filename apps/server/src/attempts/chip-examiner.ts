import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { PoolBusyError, WorkerLostError, WorkerPool, type WorkerPoolOptions } from "../lib/worker-pool.ts";
import type { Agreement, ChipTask, ChipTaskAnswer, DocumentCheck, SentFiles } from "./chip-task.ts";
import type { ChipProofName } from "./verify-flow.ts";

export type ChipCommands = {
  kind: "in_session" | "sealed" | "challenge";
  commands: readonly Uint8Array[];
};

/** How far the proof of one chip is. It holds the private key of the agreement, so it stays in this process. */
export type ProofState =
  | { proof: "chip_authentication"; agreement: Agreement; answers: readonly Uint8Array[] | null }
  | { proof: "active_authentication"; challenge: Uint8Array };

export type ExaminerOptions = Partial<WorkerPoolOptions> & { retryMs?: number; patienceMs?: number };

const challengeBytes = 8;
const lostTaskRetries = 2;

/** The checks of the chip, carried out by threads. A thread that is lost costs nobody anything: its task is given to another. */
export class ChipExaminer {
  readonly #pool: WorkerPool<ChipTask, unknown>;
  readonly #retryMs: number;
  readonly #patienceMs: number;
  readonly #closing = new AbortController();

  constructor(trustFolder: string, options: ExaminerOptions = {}) {
    this.#pool = new WorkerPool(
      new URL("./chip-worker.ts", import.meta.url),
      {
        threads: options.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1)),
        maxWaiting: options.maxWaiting ?? 64,
        taskMs: options.taskMs ?? 30_000,
      },
      { trustFolder },
    );
    this.#retryMs = options.retryMs ?? 250;
    this.#patienceMs = options.patienceMs ?? 5 * 60_000;
  }

  get waiting(): number {
    return this.#pool.waiting;
  }

  /** `onBusy` is told, once, when others come first. */
  verify(
    input: { sandbox: boolean; files: SentFiles; now: Date },
    onBusy: () => void,
  ): Promise<DocumentCheck> {
    const { sandbox, files, now } = input;
    return this.#run({ kind: "verify", sandbox, files, nowMs: now.getTime() }, onBusy);
  }

  async beginProof(
    proof: ChipProofName,
    files: SentFiles,
    onBusy: () => void,
    generalAuthenticate = false,
  ): Promise<{ state: ProofState; ask: ChipCommands }> {
    if (proof === "active_authentication") {
      const challenge = new Uint8Array(randomBytes(challengeBytes));
      return { state: { proof, challenge }, ask: { kind: "challenge", commands: [challenge] } };
    }
    if (files.DG14 === undefined) throw new Error("chip authentication was begun without DG14");
    const { agreement, commands } = await this.#run(
      { kind: "begin_agreement", dg14: files.DG14, generalAuthenticate },
      onBusy,
    );
    return { state: { proof, agreement, answers: null }, ask: { kind: "in_session", commands } };
  }

  /** The next thing to ask the chip for, or the verdict. */
  async continueProof(
    state: ProofState,
    answers: readonly Uint8Array[],
    files: SentFiles,
    onBusy: () => void,
  ): Promise<{ state: ProofState; ask: ChipCommands } | { proved: boolean }> {
    if (state.proof === "active_authentication") {
      const [signature] = answers;
      if (signature === undefined || files.DG15 === undefined) return { proved: false };
      return this.#run(
        {
          kind: "check_signature",
          dg14: files.DG14 ?? null,
          dg15: files.DG15,
          challenge: state.challenge,
          signature,
        },
        onBusy,
      );
    }
    const { agreement } = state;
    if (state.answers === null) {
      const sealed = await this.#run({ kind: "seal_command", agreement, answers }, onBusy);
      if (sealed === null) return { proved: false };
      if (sealed === "again") return this.beginProof("chip_authentication", files, onBusy, true);
      return { state: { ...state, answers }, ask: { kind: "sealed", commands: [sealed.command] } };
    }
    const [answer] = answers;
    if (answer === undefined) return { proved: false };
    return this.#run({ kind: "finish_agreement", agreement, answers: state.answers, answer }, onBusy);
  }

  /** Sandbox only: how the face check of this test document is meant to end. */
  simulateFace(
    sod: Uint8Array,
    now: Date,
    onBusy: () => void,
  ): Promise<ChipTaskAnswer["find_test_document"]> {
    return this.#run({ kind: "find_test_document", sod, nowMs: now.getTime() }, onBusy);
  }

  async #run<T extends ChipTask>(task: T, onBusy: () => void): Promise<ChipTaskAnswer[T["kind"]]> {
    let lost = 0;
    let told = false;
    for (let waitedMs = 0; ; ) {
      try {
        return (await this.#pool.run(task)) as ChipTaskAnswer[T["kind"]];
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (error instanceof WorkerLostError && lost++ < lostTaskRetries) continue;
        if (!(error instanceof PoolBusyError) || waitedMs >= this.#patienceMs) throw error;
        if (!told) onBusy();
        told = true;
        // Spread, so that those who wait do not come back all at once.
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

export function overwriteExchange(state: ProofState | null): void {
  if (state === null) return;
  if (state.proof === "active_authentication") state.challenge.fill(0);
  else for (const bytes of [...state.agreement.drawn, ...(state.answers ?? [])]) bytes.fill(0);
}

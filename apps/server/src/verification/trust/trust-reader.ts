import { anyone, type Who } from "../../platform/lib/waiting-line.ts";
import { WorkerPool } from "../../platform/lib/worker-pool.ts";
import type { WalletListAnswer } from "./read-wallet-list.ts";
import type { TrustSnapshot } from "./trust-snapshot.ts";
import type { EditionAnswer, TaskOf, TrustSurvey, TrustTask, TrustTaskAnswer } from "./trust-task.ts";

type Asked<K extends TrustTask["kind"]> = Omit<TaskOf<K>, "kind" | "nowMs"> & { now: Date };

/** What carries out tasks: a thread of this process. */
export type TrustPool = {
  run(task: TrustTask, who: Who): Promise<unknown>;
  close(): Promise<void>;
};

export function openTrustThread(): TrustPool {
  return new WorkerPool<TrustTask, unknown>(new URL("./trust-worker.ts", import.meta.url), {
    threads: 1,
    maxWaiting: 8,
    taskMs: 60_000,
  });
}

/** Reads lists in a separate thread: hundreds of certificates, or a hostile list, take a while. */
export class TrustReader {
  readonly #pool: TrustPool;
  #survey: { version: number; day: string; survey: Promise<TrustSurvey> } | null = null;

  constructor(pool = openTrustThread()) {
    this.#pool = pool;
  }

  readEdition({ now, ...task }: Asked<"read_edition">): Promise<EditionAnswer> {
    return this.#run({ kind: "read_edition", ...task, nowMs: now.getTime() });
  }

  readWalletList({ now, ...task }: Asked<"read_wallet_list">): Promise<WalletListAnswer> {
    return this.#run({ kind: "read_wallet_list", ...task, nowMs: now.getTime() });
  }

  /** Computed again when the version changes, and once an hour, because lists become stale. */
  survey(trust: TrustSnapshot, now: Date): Promise<TrustSurvey> {
    const day = now.toISOString().slice(0, 13);
    if (this.#survey?.version !== trust.version || this.#survey.day !== day) {
      const survey = this.#run({ kind: "survey", trust, nowMs: now.getTime() });
      const kept = { version: trust.version, day, survey };
      this.#survey = kept;
      survey.catch(() => {
        if (this.#survey === kept) this.#survey = null;
      });
    }
    return this.#survey.survey;
  }

  #run<T extends TrustTask>(task: T): Promise<TrustTaskAnswer[T["kind"]]> {
    return this.#pool.run(task, anyone) as Promise<TrustTaskAnswer[T["kind"]]>;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

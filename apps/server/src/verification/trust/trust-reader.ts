import { anyone } from "../../platform/lib/waiting-line.ts";
import { WorkerPool } from "../../platform/lib/worker-pool.ts";
import type { WalletListAnswer } from "./read-wallet-list.ts";
import type { TrustSnapshot } from "./trust-snapshot.ts";
import type { EditionAnswer, TrustSurvey, TrustTask, WalletListTask } from "./trust-task.ts";

/** Reads lists in a separate thread: hundreds of certificates, or a hostile list, take a while. */
export class TrustReader {
  readonly #pool = new WorkerPool<TrustTask | WalletListTask, unknown>(
    new URL("./trust-worker.ts", import.meta.url),
    {
      threads: 1,
      maxWaiting: 8,
      taskMs: 60_000,
    },
  );
  #survey: { version: number; day: string; survey: Promise<TrustSurvey> } | null = null;

  async readEdition(input: {
    trust: TrustSnapshot;
    bytes: Uint8Array;
    label: string;
    pins: readonly string[];
    now: Date;
  }): Promise<EditionAnswer> {
    const { now, ...task } = input;
    return (await this.#pool.run(
      { kind: "read_edition", ...task, nowMs: now.getTime() },
      anyone,
    )) as EditionAnswer;
  }

  async readWalletList(
    input: Omit<WalletListTask, "kind" | "nowMs"> & { now: Date },
  ): Promise<WalletListAnswer> {
    const { now, ...task } = input;
    return (await this.#pool.run(
      { kind: "read_wallet_list", ...task, nowMs: now.getTime() },
      anyone,
    )) as WalletListAnswer;
  }

  /** Computed again when the version changes, and once an hour, because lists become stale. */
  survey(trust: TrustSnapshot, now: Date): Promise<TrustSurvey> {
    const day = now.toISOString().slice(0, 13);
    if (this.#survey?.version !== trust.version || this.#survey.day !== day) {
      const task: TrustTask = { kind: "survey", trust, nowMs: now.getTime() };
      const survey = this.#pool.run(task, anyone) as Promise<TrustSurvey>;
      const kept = { version: trust.version, day, survey };
      this.#survey = kept;
      survey.catch(() => {
        if (this.#survey === kept) this.#survey = null;
      });
    }
    return this.#survey.survey;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

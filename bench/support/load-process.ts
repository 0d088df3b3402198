import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";

/** What a generator is to send. Without a rate each connection sends again as soon as it has its answer (closed loop). */
export type LoadOrder = {
  url: string;
  /** Complete requests, taken in turn. */
  requests: readonly string[];
  ratePerSecond: number | null;
  connections: number;
  seconds: number;
  /** Good is an answer of success that came within this time. */
  goodMs: number;
};

export type LoadReport = {
  sent: number;
  /** Due, but every connection was busy. */
  unsent: number;
  good: number;
  late: number;
  refused: number;
  failed: number;
  seconds: number;
  /** Of the answers of success, whenever they came; null where there was none. */
  p50Ms: number | null;
  p99Ms: number | null;
  refusedP50Ms: number | null;
  cpuSeconds: number;
};

/** A load generator in a process of its own, which goes on offering however slow the service becomes (open loop). */
export class LoadProcess {
  readonly #child: ChildProcess;

  /** `steps`: give way to everything else by so many steps (nice), as a generator on a machine of its own would. */
  constructor(steps = 0) {
    this.#child = fork(new URL("./load-generator.ts", import.meta.url));
    if (steps > 0) setPriority(this.#child.pid ?? 0, steps);
  }

  async run(order: LoadOrder): Promise<LoadReport> {
    this.#child.send(order);
    const [report] = (await once(this.#child, "message")) as [LoadReport];
    return report;
  }

  stop(): void {
    this.#child.kill();
  }
}

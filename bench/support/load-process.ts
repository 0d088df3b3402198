import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import type { LoadOrder, LoadReport } from "./load-order.ts";

/**
 * A load generator in a separate process, which keeps its rate however slow the service becomes (open loop).
 */
export class LoadProcess {
  readonly #child: ChildProcess;

  /** `steps`: lower its priority by this many steps (nice), as if the generator ran on another machine. */
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

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import type { LoadOrder, LoadReport } from "./load-order.ts";

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

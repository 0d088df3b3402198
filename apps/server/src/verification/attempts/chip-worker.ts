import { parentPort } from "node:worker_threads";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import type { WorkerAnswer } from "../../platform/lib/worker-pool.ts";
import { type ChipTask, runChipTask, TrustStores } from "./chip-task.ts";

/**
 * A thread that checks chips. It works on copies of files, proof keys and content, and overwrites them and
 * its answer once it is sent.
 */
const checker = createNodeSignatureChecker();
const surroundings = { checker, stores: new TrustStores(checker) };

parentPort?.on("message", async (task: ChipTask) => {
  let message: WorkerAnswer<unknown>;
  try {
    message = { answer: await runChipTask(task, surroundings) };
  } catch (error) {
    message = { failed: error instanceof Error ? error.name : "unknown" };
  }
  parentPort?.postMessage(message);
  overwrite(task);
  overwrite(message);
});

function overwrite(value: unknown): void {
  if (value instanceof Uint8Array) value.fill(0);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) overwrite(part);
}

import { parentPort } from "node:worker_threads";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { overwrite } from "../../platform/lib/overwrite.ts";
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

import { parentPort } from "node:worker_threads";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import type { WorkerAnswer } from "../../platform/lib/worker-pool.ts";
import { runTrustTask, type TrustTask } from "./trust-task.ts";

const checker = createNodeSignatureChecker();

parentPort?.on("message", (task: TrustTask) => {
  let message: WorkerAnswer<unknown>;
  try {
    message = { answer: runTrustTask(task, checker) };
  } catch (error) {
    message = { failed: error instanceof Error ? error.name : "unknown" };
  }
  parentPort?.postMessage(message);
});

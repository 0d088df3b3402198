import { parentPort } from "node:worker_threads";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import type { WorkerAnswer } from "../../platform/lib/worker-pool.ts";
import { readWalletList } from "./read-wallet-list.ts";
import { runTrustTask, type TrustTask, type WalletListTask } from "./trust-task.ts";

const checker = createNodeSignatureChecker();

parentPort?.on("message", async (task: TrustTask | WalletListTask) => {
  let message: WorkerAnswer<unknown>;
  try {
    message = {
      answer:
        task.kind === "read_wallet_list"
          ? await readWalletList(task.bytes, { ...task, broughtBy: "source", now: new Date(task.nowMs) })
          : runTrustTask(task, checker),
    };
  } catch (error) {
    message = { failed: error instanceof Error ? error.name : "unknown" };
  }
  parentPort?.postMessage(message);
});

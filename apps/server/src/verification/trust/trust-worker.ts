import { parentPort } from "node:worker_threads";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import type { WorkerAnswer } from "../../platform/lib/worker-pool.ts";
import { readWalletList } from "./read-wallet-list.ts";
import { readEdition, surveyTrust, type TrustTask } from "./trust-task.ts";

const checker = createNodeSignatureChecker();

parentPort?.on("message", async (task: TrustTask) => {
  let message: WorkerAnswer<unknown>;
  try {
    message = { answer: await run(task) };
  } catch (error) {
    message = { failed: error instanceof Error ? error.name : "unknown" };
  }
  parentPort?.postMessage(message);
});

function run(task: TrustTask): unknown {
  switch (task.kind) {
    case "read_edition":
      return readEdition(task, checker);
    case "read_wallet_list":
      return readWalletList(task.bytes, { ...task, broughtBy: "source", now: new Date(task.nowMs) });
    case "survey":
      return surveyTrust(task, checker);
  }
}

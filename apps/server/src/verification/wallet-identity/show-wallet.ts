import { purposes } from "@assay/credential/trust-anchor";
import type { Core } from "../../platform/core.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { summarizeWallet } from "./summarize-wallet.ts";

/** Returns the job that keeps the metrics of wallets up to date. */
export function createShowWallet(core: Core): () => Promise<number> {
  const setLeft = core.metrics.gauge(
    "assay_wallet_identity_left_seconds",
    "Time until the certificate that signs live requests to wallets ends; 0 where a method needs one and there is none.",
  );
  const setOverdue = core.metrics.gauge(
    "assay_wallet_list_overdue_seconds",
    "Time since the next update of a live list of wallet issuers was due, the longest of each purpose.",
  );
  return async () => {
    const { identity, offered, staleLists } = await summarizeWallet(core);
    const now = core.clock.now().getTime();
    const needsOne = offered.some((purpose) => purpose !== "age");
    if (identity !== null || needsOne)
      setLeft(Math.max(0, Math.round(((identity?.notAfter.getTime() ?? 0) - now) / secondMs)));
    for (const purpose of purposes) {
      const due = staleLists
        .filter((list) => list.purpose === purpose)
        .map(({ nextUpdate }) => nextUpdate.getTime());
      setOverdue(due.length === 0 ? 0 : Math.round((now - Math.min(...due)) / secondMs), { purpose });
    }
    return 0;
  };
}

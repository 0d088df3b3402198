import type { SessionId } from "@assay/contract/ids";
import type { VerifyStatusData } from "@assay/contract/verify";
import { isResultQueued } from "../../delivery/webhooks/is-result-queued.ts";
import type { Core } from "../../platform/core.ts";
import { statusAt } from "../sessions/session.ts";
import { findReturnUrl } from "./return-url.ts";
import { findStatus } from "./status.store.ts";
import { viewStatus } from "./verify.view.ts";

/** The session's status for its pages; null if it does not exist. */
export async function readStatus(
  { db, clock }: Pick<Core, "db" | "clock">,
  sessionId: SessionId,
): Promise<VerifyStatusData | null> {
  const now = clock.now();
  const row = await findStatus(db, sessionId, now);
  if (row === null) return null;
  const status = statusAt(row, now);
  const shown = {
    returnUrl: await findReturnUrl(db, row, status),
    resultIsSent: status === "succeeded" && (await isResultQueued(db, row)),
  };
  return viewStatus(row, shown, now);
}

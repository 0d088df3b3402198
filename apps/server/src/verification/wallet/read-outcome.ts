import { triesAllowed } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import type { FailureCode } from "@assay/contract/sessions";
import type { WalletOutcomeData } from "@assay/contract/wallet";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { findSessionOfPerson } from "../sessions/session.store.ts";
import { isOpen, statusAt } from "../sessions/session.ts";

/** The answer to the page after a proof. If the session is open, another device has taken over. */
export async function readFinalOutcome(core: Pick<Core, "db" | "clock">, sessionId: SessionId) {
  const outcome = await readOutcome(core, sessionId, null);
  if (isOpen(outcome.status)) throw new ApiError("WALLET_REQUEST_EXPIRED");
  return outcome;
}

/** The answer to the page after a wallet has answered. */
export async function readOutcome(
  { db, clock }: Pick<Core, "db" | "clock">,
  sessionId: SessionId,
  failureCode: FailureCode | null,
): Promise<WalletOutcomeData> {
  const session = await findSessionOfPerson(db, sessionId);
  if (session === null) throw new ApiError("SESSION_NOT_FOUND");
  return {
    status: statusAt(session, clock.now()),
    failure_code: failureCode,
    tries_left: Math.max(0, triesAllowed - (session.steps.wallet?.tries ?? 0)),
  };
}

import type { SessionId } from "@assay/contract/ids";
import type { WalletOutcomeData } from "@assay/contract/wallet";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { hashCode, releaseProof } from "./hold.ts";
import { readFinalOutcome, readOutcome } from "./read-outcome.ts";
import { recordProof } from "./record-answer.ts";
import { endAnswered, findAgreedTerms, findHeld } from "./wallet-request.store.ts";

/**
 * The person has returned: takes the code, which only the wallet got, and the cookie of the browser. In
 * another browser the proof is erased, because someone else may have sent the person to the wallet.
 */
export async function completeRequest(
  core: Core,
  given: { sessionId: SessionId; responseCode: string; browserSecret: string | null },
): Promise<WalletOutcomeData> {
  const { db, clock } = core;
  const { sessionId, responseCode, browserSecret } = given;
  const held = await findHeld(db, sessionId, hashCode(responseCode));
  if (held === null) {
    await readOutcome(core, sessionId, null);
    throw new ApiError("WALLET_REQUEST_NOT_FOUND");
  }
  const isOurs = browserSecret !== null && held.browserHash.equals(hashToken(browserSecret));
  const isOver = held.heldUntil <= clock.now();
  if (!isOurs || isOver) {
    await endAnswered(db, held.idHash, "expired");
    throw new ApiError(isOurs ? "WALLET_REQUEST_EXPIRED" : "WALLET_OTHER_BROWSER");
  }
  const terms = await findAgreedTerms(db, sessionId);
  if (terms === null) throw new ApiError("WALLET_REQUEST_EXPIRED");
  const proof = releaseProof(responseCode, held.idHash, held.held);
  const recorded = await recordProof(core, { request: held, terms }, proof);
  if (recorded.kind === "superseded") throw new ApiError("WALLET_REQUEST_NOT_FOUND");
  return readFinalOutcome(core, sessionId);
}

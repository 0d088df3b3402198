import { personActor, recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { recordTry, type TriedAttempt } from "../attempts/record-try.ts";
import type { TryRecorded } from "../attempts/try.ts";
import type { WalletProof } from "../evidence/wallet/proof.ts";
import { riskScore } from "../evidence/wallet/risk-score.ts";
import { sessionChannel } from "../sessions/end-session.ts";
import { setVerdict } from "../sessions/session.store.ts";
import type { Judgement } from "./judge-presentation.ts";
import { type AgreedTerms, countUnreadable, endAnswered } from "./wallet-request.store.ts";
import type { WalletRequest } from "./wallet-request.ts";

type Answered = { request: WalletRequest; terms: AgreedTerms };

function attemptOf({ request, terms }: Answered): TriedAttempt {
  const { sessionId, attemptId, organizationId, sandbox } = request;
  return { sessionId, attemptId, organizationId, sandbox, selectedFieldKeys: terms.selectedFieldKeys };
}

/** The request can be used once, which prevents a second count of its try. */
function ending({ request }: Answered, state: "completed" | "refused") {
  return async (tx: Tx): Promise<boolean> => {
    tx.notify(sessionChannel, request.sessionId);
    return endAnswered(tx, request.idHash, state);
  };
}

/** The session succeeds by what was proved. The proof is overwritten. */
export async function recordProof(core: Core, answered: Answered, proof: WalletProof): Promise<TryRecorded> {
  const risk = riskScore({ proof, failedTries: answered.terms.walletTries });
  const judged = {
    step: "wallet",
    number: "next",
    riskScore: risk,
    verdict: { failureCode: null },
    proof,
  } as const;
  try {
    return await recordTry(core, attemptOf(answered), judged, ending(answered, "completed"));
  } finally {
    proof.content.fill(0);
  }
}

/** A refused presentation uses up a try. */
export function recordRefusal(
  core: Core,
  answered: Answered,
  { failureCode, reason }: Extract<Judgement, { kind: "refused" }>,
): Promise<TryRecorded> {
  const reasons = [reason];
  const judged = {
    step: "wallet",
    number: "next",
    riskScore: riskScore({ proof: null, failedTries: answered.terms.walletTries }),
    verdict: { failureCode, reasons },
    audit: { event: "session.wallet_rejected", details: { failure_code: failureCode, reasons } },
  } as const;
  return recordTry(core, attemptOf(answered), judged, ending(answered, "refused"));
}

/** Reports the unmet requirement to the page. No try is used up: nothing is wrong with the credential. */
export async function reportUnmetRevocation(core: Core, { request }: Answered): Promise<void> {
  await core.db.transaction(async (tx) => {
    if (!(await endAnswered(tx, request.idHash, "refused"))) return;
    const step = { forgivesChallenges: false };
    const why = { failureCode: "document_authenticity_failed", unmetRequirement: "revocation" } as const;
    setVerdict(tx, request.attemptId, { step, riskScore: 0, ...why }, core.clock.now());
    tx.notify(sessionChannel, request.sessionId);
  });
}

/** An unreadable answer uses up no try. A few retire the request, which bounds the audit log. */
export function noteUnreadable(
  { db, clock }: Pick<Core, "db" | "clock">,
  request: WalletRequest,
): Promise<void> {
  return db.transaction(async (tx) => {
    if (!(await countUnreadable(tx, request.idHash))) return;
    await recordAudit(tx, clock.now(), {
      ...tenantOf(request),
      event: "session.wallet_rejected",
      actor: personActor,
      targetId: request.sessionId,
      details: { attempt_id: request.attemptId, failure_code: null, reasons: ["unreadable"] },
    });
  });
}

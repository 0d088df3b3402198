import { walletLimits } from "@assay/contract/wallet-facts";
import type { HolderBinding } from "@assay/credential/holder-binding";
import {
  type AnswerForm,
  judgeAnswer,
  type Presentations,
  readAnswer,
} from "@assay/credential/openid4vp/answer";
import { ageClientIdOf } from "@assay/credential/openid4vp/request";
import type { Core } from "../../platform/core.ts";
import { later, minuteMs } from "../../platform/kernel/clock.ts";
import { hashToken, newToken } from "../../platform/kernel/ids.ts";
import type { WalletProof } from "../evidence/wallet/proof.ts";
import { responseUri, returnUri } from "./addresses.ts";
import { hashCode, holdProof } from "./hold.ts";
import { judgePresentation } from "./judge-presentation.ts";
import { noteUnreadable, recordProof, recordRefusal, reportUnmetRevocation } from "./record-answer.ts";
import { openResponseKey, type ResponseKey } from "./response-key.ts";
import { endAnswered, findAgreedTerms, findRequest, putHold, takeForAnswer } from "./wallet-request.store.ts";
import { answerRefusal, type WalletRequest } from "./wallet-request.ts";
import { withoutMessage } from "./without-message.ts";

/**
 * Handles what a wallet posts. Returns where the wallet sends the person. Null if it answers no open request:
 * unknown, expired, used or unreadable, without a difference for the wallet.
 */
export async function receiveAnswer(
  core: Core,
  requestId: string,
  form: AnswerForm,
): Promise<{ redirectUri: string } | null> {
  const { db, clock } = core;
  const now = clock.now();
  const request = await findRequest(db, hashToken(requestId));
  if (request === null || request.channel === "dc_api" || answerRefusal(request, now) !== null) return null;
  const key = openResponseKey(core, request);
  const answer = await withoutMessage(() => readAnswer(form, { encryption: key, state: requestId }));
  if (answer.kind === "unreadable") {
    await noteUnreadable(core, request);
    return null;
  }
  if (!(await takeForAnswer(db, request.idHash, now))) return null;
  const page = { redirectUri: returnUri(core.publicUrl(), request.sessionId, null) };
  if (answer.kind === "declined") {
    await endAnswered(db, request.idHash, "declined");
    return page;
  }
  const code = await decide(core, request, { requestId, key, presentations: answer.presentations });
  if (code === "superseded") return null;
  return code === null ? page : { redirectUri: returnUri(core.publicUrl(), request.sessionId, code) };
}

/** The code for the person's return, or null if everything was recorded already. */
async function decide(
  core: Core,
  request: WalletRequest,
  answer: { requestId: string; key: ResponseKey | null; presentations: Presentations },
): Promise<string | null | "superseded"> {
  const terms = await findAgreedTerms(core.db, request.sessionId);
  if (terms === null) return "superseded";
  const answered = { request, terms };
  const binding = bindingOf(core, request, answer);
  const judgement = await judgePresentation(core, { ...answered, binding }, (context) =>
    judgeAnswer(answer.presentations, request.asked, context),
  );
  switch (judgement.kind) {
    case "revocation_unknown":
      await reportUnmetRevocation(core, answered);
      return null;
    case "refused":
      return isRecorded(await recordRefusal(core, answered, judgement)) ? null : "superseded";
    case "passed":
      if (request.channel === "redirect") return hold(core, request, judgement.proof);
      // The profile of the proof of age has no redirect back.
      return isRecorded(await recordProof(core, answered, judgement.proof)) ? null : "superseded";
  }
}

function isRecorded({ kind }: { kind: string }): boolean {
  return kind === "counted" || kind === "session_ended";
}

/** Nothing is recorded before the person is back in the browser. Only the answer contains the code. */
async function hold(core: Core, request: WalletRequest, proof: WalletProof): Promise<string | "superseded"> {
  const code = newToken();
  const held = holdProof(code, request.idHash, proof);
  const heldUntil = later(core.clock.now(), walletLimits.holdMinutes * minuteMs);
  const isHeld = await putHold(core.db, request.idHash, { codeHash: hashCode(code), held, heldUntil });
  return isHeld ? code : "superseded";
}

/** From our own records and settings; nothing of it is read from the answer. */
function bindingOf(
  { publicUrl }: Core,
  { nonce, clientId }: WalletRequest,
  { requestId, key }: { requestId: string; key: ResponseKey | null },
): HolderBinding {
  const address = responseUri(publicUrl(), requestId);
  return {
    kind: "redirect",
    clientId: clientId ?? ageClientIdOf(address),
    nonce,
    responseUri: address,
    keyThumbprint: key?.thumbprint ?? null,
    ...(key === null ? {} : { readerKey: key.privateKey }),
  };
}

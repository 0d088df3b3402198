import type { SessionId } from "@assay/contract/ids";
import type { WalletOutcomeData } from "@assay/contract/wallet";
import type { HolderBinding } from "@assay/credential/holder-binding";
import type { JudgeContext } from "@assay/credential/judge-context";
import { judgeAnswer, readAnswer } from "@assay/credential/openid4vp/answer";
import type { Verdict } from "@assay/credential/verdict";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { readAnnexC } from "./annex-c.ts";
import { judgePresentation } from "./judge-presentation.ts";
import { readFinalOutcome, readOutcome } from "./read-outcome.ts";
import { noteUnreadable, recordProof, recordRefusal, reportUnmetRevocation } from "./record-answer.ts";
import { openResponseKey, type ResponseKey } from "./response-key.ts";
import { endAnswered, findAgreedTerms, findRequest, takeForAnswer } from "./wallet-request.store.ts";
import { answerRefusal, type WalletRequest } from "./wallet-request.ts";
import { withoutMessage } from "./without-message.ts";

type PageAnswer = {
  sessionId: SessionId;
  requestId: string;
  protocol: string;
  data: Record<string, unknown>;
  /** The cookie of the browser. */
  browserSecret: string | null;
};

/** An answer of the Digital Credentials API, which the browser binds to our origin: recorded at once. */
export async function answerByPage(core: Core, given: PageAnswer): Promise<WalletOutcomeData> {
  const { db, clock } = core;
  const now = clock.now();
  const request = await findRequest(db, hashToken(given.requestId));
  if (request === null || request.sessionId !== given.sessionId || request.channel !== "dc_api")
    throw new ApiError("WALLET_REQUEST_NOT_FOUND");
  const isOurs = given.browserSecret !== null && request.browserHash.equals(hashToken(given.browserSecret));
  if (!isOurs) throw new ApiError("WALLET_OTHER_BROWSER");
  const refusal = answerRefusal(request, now);
  if (refusal !== null)
    throw new ApiError(refusal === "answered" ? "WALLET_ANSWERED" : "WALLET_REQUEST_EXPIRED");
  const key = openResponseKey(core, request);
  const read = key === null ? null : await withoutMessage(() => readPresented(core, request, key, given));
  if (read === null) {
    await noteUnreadable(core, request);
    throw new ApiError("INVALID_REQUEST", {
      message: "`data` is not an answer to this request.",
      hint: "Send exactly what the browser returned, or ask the wallet again with POST …/wallet.",
    });
  }
  if (!(await takeForAnswer(db, request.idHash, now))) throw new ApiError("WALLET_ANSWERED");
  if (read === "declined") {
    await endAnswered(db, request.idHash, "declined");
    return readOutcome(core, given.sessionId, null);
  }
  const terms = await findAgreedTerms(db, request.sessionId);
  if (terms === null) throw new ApiError("WALLET_REQUEST_EXPIRED");
  const answered = { request, terms };
  const judgement = await judgePresentation(core, { ...answered, binding: read.binding }, read.judge);
  switch (judgement.kind) {
    case "revocation_unknown":
      await reportUnmetRevocation(core, answered);
      return readOutcome(core, given.sessionId, "document_authenticity_failed");
    case "refused":
      await recordRefusal(core, answered, judgement);
      return readOutcome(core, given.sessionId, judgement.failureCode);
    case "passed":
      await recordProof(core, answered, judgement.proof);
      return readFinalOutcome(core, given.sessionId);
  }
}

type Presented = {
  binding: HolderBinding;
  judge: (context: Omit<JudgeContext, "asked">) => Promise<Verdict>;
};

/** Null for what is no answer to this request. */
function readPresented(
  core: Core,
  request: WalletRequest,
  key: ResponseKey,
  { protocol, data }: PageAnswer,
): Promise<Presented | "declined" | null> {
  const { origin } = new URL(core.publicUrl());
  if (protocol === "org-iso-mdoc") return readAnnexC(request, key, origin, data.response);
  return protocol === "openid4vp-v1-signed"
    ? readOpenId4vp(request, key, origin, data)
    : Promise.resolve(null);
}

async function readOpenId4vp(
  { nonce, asked }: WalletRequest,
  key: ResponseKey,
  origin: string,
  data: Record<string, unknown>,
): Promise<Presented | "declined" | null> {
  const answer = await readAnswer(data, { encryption: key });
  if (answer.kind === "unreadable") return null;
  if (answer.kind === "declined") return "declined";
  return {
    binding: { kind: "dc_api", origin, nonce, keyThumbprint: key.thumbprint, readerKey: key.privateKey },
    judge: (context) => judgeAnswer(answer.presentations, asked, context),
  };
}

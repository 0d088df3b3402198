import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import { type WalletChannel, walletLimits } from "@assay/contract/wallet-facts";
import type { AskedCredential } from "@assay/credential/asked";
import { later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import type { WalletBinding } from "../evidence/wallet/proof.ts";

/**
 * `answered`: being judged, or held until the person returns. `expired`: its time is over, or a newer request
 * has replaced it. `declined`: by the person in the wallet.
 */
type RequestState = "made" | "fetched" | "answered" | "completed" | "refused" | "declined" | "expired";

/** A request to a wallet. */
export type WalletRequest = {
  idHash: Buffer;
  sessionId: SessionId;
  organizationId: OrganizationId;
  sandbox: boolean;
  attemptId: AttemptId;
  channel: WalletChannel;
  asked: readonly AskedCredential[];
  nonce: string;
  /** Null for `age_link`, whose client id follows from its address. */
  clientId: string | null;
  /** Null once the request is answered or retired. */
  responseKeySealed: Buffer | null;
  browserHash: Buffer;
  binding: WalletBinding;
  state: RequestState;
  expiresAt: Date;
  fetchedAt: Date | null;
};

/** Wallets retry. */
const fetchAgainMs = 60 * secondMs;

export function requestExpiry(now: Date, sessionExpiresAt: Date): Date {
  const expiry = later(now, walletLimits.requestMinutes * minuteMs);
  return expiry < sessionExpiresAt ? expiry : sessionExpiresAt;
}

/** Why a request accepts no answer; null if it accepts one. */
export function answerRefusal(
  { state, expiresAt }: Pick<WalletRequest, "state" | "expiresAt">,
  now: Date,
): "answered" | "expired" | null {
  switch (state) {
    case "made":
    case "fetched":
      return expiresAt <= now ? "expired" : null;
    case "expired":
      return "expired";
    case "answered":
    case "completed":
    case "refused":
    case "declined":
      return "answered";
  }
}

/** The request object is served once, and once more if a wallet that posts asks again soon. */
export function mayFetch(
  request: Pick<WalletRequest, "channel" | "state" | "expiresAt" | "fetchedAt">,
  method: "GET" | "POST",
  now: Date,
): boolean {
  if (request.channel !== "redirect" || answerRefusal(request, now) !== null) return false;
  if (request.fetchedAt === null) return true;
  return method === "POST" && later(request.fetchedAt, fetchAgainMs) > now;
}

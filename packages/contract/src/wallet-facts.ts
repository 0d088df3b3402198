import type { Method } from "./facts.ts";
import type { SessionId } from "./ids.ts";

/** For the page too, which is spared the schema library. */

export const walletMethods = ["wallet_pid", "wallet_mdl", "wallet_age"] as const satisfies readonly Method[];
export type WalletMethod = (typeof walletMethods)[number];

export const walletChannels = ["dc_api", "redirect", "age_link"] as const;
export type WalletChannel = (typeof walletChannels)[number];

/**
 * Ties a wallet request to the browser that made it.
 * One cookie per session: a browser may have several in tabs.
 */
export function walletCookieNames(sessionId: SessionId): { http: string; https: string } {
  return { http: `assay_wallet_${sessionId}`, https: `__Host-assay_wallet_${sessionId}` };
}

/** Fields that a way may check without sharing them. */
export const lookedAt = ["date_of_birth", "document_expiry_date"] as const;
export type LookedAt = (typeof lookedAt)[number];

export const walletLimits = {
  requestMinutes: 5,
  /** From the answer to the return of the person. */
  holdMinutes: 5,
  cookieMinutes: 10,
  answerBytes: 256 * 1024,
  /** Answers to one request that cannot be read. The last one retires the request. */
  unreadableAnswers: 5,
} as const;

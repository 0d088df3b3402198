import type { Core } from "../../platform/core.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { expiredLimits } from "./guess-limit.store.ts";
import { expiredMailedTokens, staleMailRequests } from "./mailed-token.store.ts";
import { expiredPasskeyChallenges } from "./passkey.store.ts";

export const leftoversAtOnce = 1000;

/**
 * How long an unanswerable request is kept. If shorter, it may be gone before an operator has looked; if
 * longer, an address is kept without need.
 */
const unansweredKeptDays = 30;

/** Removes expired links, challenges and counts, and requests that could not be answered. */
export async function purgeAccountLeftovers(
  { quarantine, clock }: Pick<Core, "clock" | "quarantine">,
  job: string,
): Promise<number> {
  const now = clock.now();
  let removed = 0;
  for (const expired of [
    expiredMailedTokens(now),
    expiredPasskeyChallenges(now),
    staleMailRequests(later(now, -unansweredKeptDays * dayMs)),
    ...expiredLimits(now),
  ])
    removed += await quarantine.purge(job, expired, leftoversAtOnce);
  return removed;
}

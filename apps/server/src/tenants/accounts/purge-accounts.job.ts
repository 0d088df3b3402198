import type { Core } from "../../platform/core.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { expiredLimits } from "./guess-limit.store.ts";
import { expiredMailedTokens, staleMailRequests } from "./mailed-token.store.ts";
import { expiredPasskeyChallenges } from "./passkey.store.ts";

export const leftoversAtOnce = 1000;

/**
 * How long a request that cannot be answered is kept. Shorter, and it may be gone before an operator has looked; longer,
 * and an address is kept that nobody needs.
 */
const unansweredKeptDays = 30;

/** Removes what has run out: links, challenges, counts, requests that nobody could answer. None of it has an effect any more. */
export async function purgeAccountLeftovers(
  { setAside, clock }: Pick<Core, "clock" | "setAside">,
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
    removed += await setAside.purge(job, expired, leftoversAtOnce);
  return removed;
}

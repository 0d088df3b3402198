import type { Core } from "../core.ts";
import { dayMs, later } from "../kernel/clock.ts";
import { purgeLimits } from "./guess-limit.store.ts";
import { purgeMailedTokens, purgeMailRequests } from "./mailed-token.store.ts";
import { purgeChallenges } from "./passkey.store.ts";

const batchSize = 1000;

/**
 * How long a request that was set aside is kept. Shorter, and it may be gone before an operator has looked; longer,
 * and an address is kept that nobody needs.
 */
const setAsideKeptDays = 30;

/** Removes what has run out: links, challenges, counts, requests that were set aside. None of it has an effect any more. */
export async function purgeAccountLeftovers({ db, clock }: Core): Promise<number> {
  const now = clock.now();
  const tokens = await purgeMailedTokens(db, now, batchSize);
  const challenges = await purgeChallenges(db, now, batchSize);
  const requests = await purgeMailRequests(db, later(now, -setAsideKeptDays * dayMs), batchSize);
  return tokens + challenges + requests + (await purgeLimits(db, now, batchSize));
}

import type { Core } from "../core.ts";
import { dayMs, later } from "../kernel/clock.ts";
import { purgeLimits } from "./guess-limit.store.ts";
import { purgeMailedTokens, purgeMailRequests } from "./mailed-token.store.ts";
import { purgeChallenges } from "./passkey.store.ts";

const batchSize = 1000;

/** A shorter time may be over before an operator has looked; a longer one keeps an address that nobody needs. */
const setAsideKeptDays = 30;

/** Removes what has run out: links, challenges, counts, requests that were set aside. None of it has an effect any more. */
export async function purgeAccountLeftovers({ db, clock }: Core): Promise<number> {
  const now = clock.now();
  const tokens = await purgeMailedTokens(db, now, batchSize);
  const challenges = await purgeChallenges(db, now, batchSize);
  const requests = await purgeMailRequests(db, later(now, -setAsideKeptDays * dayMs), batchSize);
  return tokens + challenges + requests + (await purgeLimits(db, now, batchSize));
}

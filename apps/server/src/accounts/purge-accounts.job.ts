import type { Core } from "../core.ts";
import { purgeLimits } from "./guess-limit.store.ts";
import { purgeMailedTokens } from "./mailed-token.store.ts";
import { purgeChallenges } from "./passkey.store.ts";

const batchSize = 1000;

/** Removes links, challenges and counts that have run out. They have no effect any more; this is only tidiness. */
export async function purgeAccountLeftovers({ db, clock }: Core): Promise<number> {
  const now = clock.now();
  const tokens = await purgeMailedTokens(db, now, batchSize);
  const challenges = await purgeChallenges(db, now, batchSize);
  return tokens + challenges + (await purgeLimits(db, now, batchSize));
}

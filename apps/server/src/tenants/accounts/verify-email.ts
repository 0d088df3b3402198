import type { Core } from "../../platform/core.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { deadToken } from "./change-email.ts";
import { countMail } from "./limit-guesses.ts";
import { mailLink } from "./mail-link.ts";
import { takeMailedToken } from "./mailed-token.store.ts";
import { lockUser, markEmailVerified } from "./user.store.ts";

/**
 * The answer does not reveal whether a mail was sent: the state of the limit depends on requests of others.
 */
export async function requestEmailVerification(core: Core, caller: UserCaller): Promise<void> {
  if (!(await countMail(core, caller.userId, caller))) return;
  await core.db.transaction(async (tx) => {
    const user = await lockUser(tx, caller.userId);
    if (user !== null && user.emailVerifiedAt === null)
      await mailLink(core, tx, user.id, "verify_email", user.email);
  });
}

export async function verifyEmail(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: UserCaller,
  token: string,
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const taken = await takeMailedToken(tx, "verify_email", hashToken(token), now);
    const user = await lockUser(tx, caller.userId);
    if (taken === null || user === null || taken.userId !== user.id || taken.email !== user.email)
      throw deadToken();
    await markEmailVerified(tx, user.id, now);
  });
}

import { readEmail } from "@assay/contract/email";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { countMail } from "./limit-guesses.ts";
import { mailLink } from "./mail-link.ts";
import { removeMailedTokens, takeMailedToken } from "./mailed-token.store.ts";
import { reauthenticated, type UserProof } from "./reauthenticate.ts";
import { findUserByEmail, isTakenEmail, lockUser, setVerifiedEmail } from "./user.store.ts";

/**
 * Only the new address learns, by mail, whether it already has an account. The caller gets the same answer
 * either way (no account enumeration).
 */
export async function requestEmailChange(
  core: Core,
  caller: UserCaller,
  text: string,
  proof: UserProof,
): Promise<void> {
  const { address: email, folded } = requireEmail("email", text);
  if (email === caller.email) {
    throw new ApiError("EMAIL_UNCHANGED");
  }
  const mayMail = (await countMail(core, caller.userId, caller)) && (await countMail(core, folded, caller));
  await reauthenticated(core, caller, proof, async (tx) => {
    if (!mayMail) return;
    const holder = await findUserByEmail(tx, folded);
    if (holder !== null && holder.id !== caller.userId) {
      await queueMail(core, tx, { to: email }, { kind: "email_taken", fill: {} });
    } else {
      await mailLink(core, tx, caller.userId, "change_email", email, caller.email);
    }
    await queueMail(core, tx, { to: caller.email }, { kind: "email_change_requested", fill: { email } });
  });
}

export async function confirmEmailChange(core: Core, caller: UserCaller, token: string): Promise<void> {
  const now = core.clock.now();
  try {
    await core.db.transaction(async (tx) => {
      const taken = await takeMailedToken(tx, "change_email", hashToken(token), now);
      const user = await lockUser(tx, caller.userId);
      const email = taken && readEmail(taken.email);
      if (taken === null || email === null || user === null || taken.userId !== caller.userId)
        throw deadToken();
      // To the old address, while it still belongs to the account.
      await queueMail(core, tx, { to: user.email }, { kind: "email_changed", fill: { email: taken.email } });
      await setVerifiedEmail(tx, user.id, email, now);
      await removeMailedTokens(tx, user.id, ["magic_link", "reset_password", "verify_email", "change_email"]);
    });
  } catch (error) {
    if (isTakenEmail(error)) {
      throw new ApiError("EMAIL_TAKEN");
    }
    throw error;
  }
}

export function deadToken(): ApiError {
  return new ApiError("MAILED_TOKEN_INVALID");
}

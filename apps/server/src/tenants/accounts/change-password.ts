import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { deadToken } from "./change-email.ts";
import { countLink } from "./limit-guesses.ts";
import { mailNotice } from "./mail-link.ts";
import { findMailedToken, removeMailedTokens, takeMailedToken } from "./mailed-token.store.ts";
import { hashPassword, refuseWeakPassword } from "./password.ts";
import { checkPassword } from "./reauthenticate.ts";
import { removeSignInMethods } from "./remove-sign-in-methods.ts";
import { isFirstProof } from "./require-verified-email.ts";
import {
  findUserById,
  lockUser,
  markEmailVerified,
  removeOtherUserSessions,
  setPasswordHash,
} from "./user.store.ts";

export async function changePassword(
  core: Core,
  caller: UserCaller,
  given: { currentPassword: string; newPassword: string },
): Promise<void> {
  const known = await findUserById(core.db, caller.userId);
  if (known?.passwordHash === null) {
    throw new ApiError("PASSWORD_NOT_SET");
  }
  const user = await checkPassword(core, caller, "current_password", given.currentPassword);
  refuseWeakPassword("new_password", given.newPassword, [user.email, user.name]);
  const passwordHash = await hashPassword(given.newPassword);
  const now = core.clock.now();
  await core.db.transaction(async (tx) => {
    const current = await lockUser(tx, user.id);
    // Another request changed the password between the check and this lock; the newer password stays.
    if (current?.passwordHash !== user.passwordHash) throw new ApiError("CONFLICT");
    await setPasswordHash(tx, user.id, passwordHash, now);
    await removeOtherUserSessions(tx, user.id, caller.userSessionId);
    await removeMailedTokens(tx, user.id, ["magic_link", "reset_password", "change_email"]);
    await mailNotice(core, tx, user, "password_changed");
  });
}

export async function resetPassword(
  core: Core,
  given: { token: string; password: string },
  address: string,
): Promise<void> {
  const now = core.clock.now();
  const hash = hashToken(given.token);
  const attempt = await countLink(core, address);
  // Hashing a password is expensive, so the link is checked first.
  const found = await findMailedToken(core.db, "reset_password", hash, now);
  if (found === null) throw deadToken();
  refuseWeakPassword("password", given.password, [found.email]);
  const passwordHash = await hashPassword(given.password);
  await core.db.transaction(async (tx) => {
    const taken = await takeMailedToken(tx, "reset_password", hash, now);
    const user = taken && (await lockUser(tx, taken.userId));
    if (taken === null || user === null || user.email !== taken.email) throw deadToken();
    await setPasswordHash(tx, user.id, passwordHash, now);
    if (user.emailVerifiedAt === null) await markEmailVerified(tx, user.id, now);
    const removed = await removeSignInMethods(tx, user.id, { isFirstProof: isFirstProof(core, user) });
    await mailNotice(core, tx, user, "password_reset", removed);
  });
  await attempt.succeeded();
}

import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { findUserById, type UserRow } from "./user.store.ts";

/** Where no mail server is configured nobody could verify an address, so nothing is demanded. */
export function verificationIsRequired({ config }: Pick<Core, "config">): boolean {
  return config.smtpUrl !== "";
}

/**
 * Whether a mailed link is the first proof that the address is the user's. Until then anybody could have signed up with it, and added to
 * the account what they liked. Where nothing is mailed, whoever gets a link has it from the operator: that proves nothing about those
 * who came before.
 */
export function isFirstProof(core: Pick<Core, "config">, user: Pick<UserRow, "emailVerifiedAt">): boolean {
  return user.emailVerifiedAt === null && verificationIsRequired(core);
}

/**
 * Refuses a user whose address is not verified. For every action in which acting under another person's address would
 * do harm.
 */
export async function requireVerifiedEmail(
  core: Pick<Core, "config" | "db">,
  caller: Pick<UserCaller, "userId">,
): Promise<void> {
  if (!verificationIsRequired(core)) return;
  const user = await findUserById(core.db, caller.userId);
  if (user === null) throw new ApiError("UNAUTHORIZED");
  if (user.emailVerifiedAt === null) throw new ApiError("EMAIL_NOT_VERIFIED");
}

import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { findUserById, type UserRow } from "./user.store.ts";

/** Without a mail server no address can be verified, so verification is not required. */
export function verificationIsRequired({ config }: Pick<Core, "config">): boolean {
  return config.smtpUrl !== "";
}

/**
 * Whether a mailed link is the first proof that the address belongs to the user. Before it, a stranger could
 * have signed up with the address and added anything to the account. Without a mail server the operator hands
 * out links, which proves nothing about earlier users.
 */
export function isFirstProof(core: Pick<Core, "config">, user: Pick<UserRow, "emailVerifiedAt">): boolean {
  return user.emailVerifiedAt === null && verificationIsRequired(core);
}

/**
 * Refuses a user with an unverified address, for every action in which it would do harm to act under the
 * address of someone else.
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

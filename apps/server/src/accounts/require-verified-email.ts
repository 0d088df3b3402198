import type { Core } from "../core.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { UserCaller } from "../kernel/caller.ts";
import { findUserById } from "./user.store.ts";

/** Where no mail server is configured nobody could verify an address, so nothing is demanded. */
export function verificationIsRequired({ config }: Pick<Core, "config">): boolean {
  return config.smtpUrl !== "";
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
  if (user.email_verified_at === null) throw new ApiError("EMAIL_NOT_VERIFIED");
}

import type { Core } from "../core.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { UserCaller } from "../kernel/caller.ts";
import { findUserById } from "./user.store.ts";

/** Where the service sends no mail, nobody could verify anything, so nothing is demanded. */
export function verificationIsRequired({ config }: Pick<Core, "config">): boolean {
  return config.smtpUrl !== "";
}

/** Refuses a user whose address is not known to be theirs. For whatever an address of somebody else could be used for. */
export async function requireVerifiedEmail(
  core: Pick<Core, "config" | "db">,
  caller: Pick<UserCaller, "userId">,
): Promise<void> {
  if (!verificationIsRequired(core)) return;
  const user = await findUserById(core.db, caller.userId);
  if (user === null) throw new ApiError("UNAUTHORIZED");
  if (user.email_verified_at === null) throw new ApiError("EMAIL_NOT_VERIFIED");
}

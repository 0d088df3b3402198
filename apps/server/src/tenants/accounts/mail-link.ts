import type { UserId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { dayMs, hourMs, later, minuteMs } from "../../platform/kernel/clock.ts";
import { hashToken, newToken, newUuid } from "../../platform/kernel/ids.ts";
import type { LetterKind, Removed } from "../../platform/mails/letter.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { insertMailedToken, type TokenPurpose } from "./mailed-token.store.ts";
import type { UserRow } from "./user.store.ts";

/** The mailed links: their lifetime, and their pages of the dashboard. */
const links: Record<TokenPurpose & LetterKind, { page: string; lifetimeMs: number }> = {
  magic_link: { page: "magic-link", lifetimeMs: 15 * minuteMs },
  reset_password: { page: "reset-password", lifetimeMs: hourMs },
  verify_email: { page: "verify-email", lifetimeMs: dayMs },
  change_email: { page: "change-email", lifetimeMs: hourMs },
};

/**
 * Mails a link with a new token to `email`. Only a hash of the token is stored. `elseAs`: see `queueMail`.
 */
export async function mailLink(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  userId: UserId,
  purpose: TokenPurpose,
  email: string,
  elseAs?: string,
): Promise<void> {
  const link = links[purpose];
  const now = core.clock.now();
  const token = newToken();
  await insertMailedToken(tx, {
    id: newUuid(now),
    userId,
    purpose,
    email,
    tokenHash: hashToken(token),
    now,
    expiresAt: later(now, link.lifetimeMs),
  });
  // A fragment is visible only to the page, not to servers, proxies or other sites.
  const url = `${core.publicUrl()}/dashboard/${link.page}#token=${token}`;
  await queueMail(
    core,
    tx,
    { to: email, ...(elseAs === undefined ? {} : { elseAs }) },
    { kind: purpose, fill: {}, url },
  );
}

type NoticeKind =
  | "password_changed"
  | "password_reset"
  | "email_verified"
  | "second_factor_on"
  | "second_factor_off";

/** Notifies the owner of an account about a change, in case they did not make it. */
export function mailNotice(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  user: Pick<UserRow, "email">,
  kind: NoticeKind,
  removed: readonly Removed[] = [],
): Promise<void> {
  return queueMail(core, tx, { to: user.email }, { kind, fill: {}, removed });
}

import type { UserId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { UserCaller } from "../../platform/kernel/caller.ts";
import { dayMs, later, minuteMs } from "../../platform/kernel/clock.ts";
import { hashToken, newToken, newUuid } from "../../platform/kernel/ids.ts";
import type { RequestInfo } from "../../platform/kernel/request-info.ts";
import { findSessionOwner, insertUserSession, setFirstLanguage, touchUserSession } from "./user.store.ts";

export const userSessionLifetimeMs = 30 * dayMs;
const touchAfterMs = 10 * minuteMs;

export async function openUserSession(
  tx: Tx,
  userId: UserId,
  { userAgent, language }: Pick<RequestInfo, "userAgent" | "language">,
  now: Date,
): Promise<string> {
  const token = newToken();
  if (language !== null) await setFirstLanguage(tx, userId, language);
  await insertUserSession(tx, {
    id: newUuid(now),
    userId,
    tokenHash: hashToken(token),
    userAgent,
    now,
    expiresAt: later(now, userSessionLifetimeMs),
  });
  return token;
}

export async function authenticateUser(
  { db, clock }: Pick<Core, "db" | "clock">,
  token: string,
): Promise<UserCaller | null> {
  const now = clock.now();
  const owner = await findSessionOwner(db, hashToken(token), now);
  if (owner === null) return null;
  // Extends a session in use, with at most one write every ten minutes.
  if (now.getTime() - owner.lastSeenAt.getTime() > touchAfterMs) {
    await touchUserSession(db, owner.id, now, later(now, userSessionLifetimeMs));
  }
  const { organizationId, role } = owner;
  return {
    kind: "user",
    userId: owner.userId,
    userSessionId: owner.id,
    name: owner.name,
    email: owner.email,
    foldedEmail: owner.emailFolded,
    membership:
      organizationId !== null && role !== null
        ? { organizationId, role, liveIsOpen: owner.liveIsOpen === true, frozen: owner.frozen === true }
        : null,
  };
}

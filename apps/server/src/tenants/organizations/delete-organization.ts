import { timingSafeEqual } from "node:crypto";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { hourMs, later } from "../../platform/kernel/clock.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import {
  clearPendingDeletion,
  countWrongTry,
  deleteDeletionCodes,
  lockDeletionCode,
  putDeletionCode,
  setPendingDeletion,
} from "./deletion.store.ts";
import { boundCode, isDead, newDeletionCode } from "./deletion-code.ts";
import { mailOwners } from "./mail-owners.ts";
import { findMember } from "./member.store.ts";
import { lockOrganization } from "./organization.store.ts";

const codeLifetimeMs = 24 * hourMs;
const hardDeleteDelayMs = 48 * hourMs;

/** Mails a code to the owner who requests it. Nothing changes until it is confirmed. */
export async function requestDeletion(core: Core, caller: MemberCaller): Promise<{ sentTo: string }> {
  const { db, clock, ring } = core;
  const now = clock.now();
  const { organizationId, userId } = caller;
  const code = newDeletionCode();
  await db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null) throw new ApiError("NOT_FOUND");
    const { hash, keyId } = ring.keyedHash("token-hash", boundCode(organizationId, userId, code));
    await putDeletionCode(tx, {
      organizationId,
      userId,
      codeHash: hash,
      hashKeyId: keyId,
      expiresAt: later(now, codeLifetimeMs),
    });
    await recordAct(tx, now, caller, {
      event: "organization.deletion_requested",
      targetId: organizationId,
    });
    await queueMail(
      core,
      tx,
      { to: caller.email, organization: { id: organizationId, name: organization.name } },
      { kind: "deletion_code", fill: { organization: organization.name, code } },
    );
  });
  return { sentTo: caller.email };
}

export async function confirmDeletion(core: Core, caller: MemberCaller, code: string): Promise<Date> {
  const { db, clock, ring } = core;
  const now = clock.now();
  const { organizationId, userId } = caller;
  const dueAt = later(now, hardDeleteDelayMs);
  // A wrong try must be counted although the request fails, so the transaction ends before the error is
  // thrown.
  const outcome = await db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    const member = await findMember(tx, organizationId, { userId });
    if (organization === null || member?.role !== "owner") return "not_owner";
    if (organization.pendingDeletionAt !== null) return "frozen";
    const stored = await lockDeletionCode(tx, organizationId, userId);
    if (stored === null || isDead(stored, now)) return "expired";
    const matches = ring
      .hashes("token-hash", boundCode(organizationId, userId, code))
      .all.some((hash) => timingSafeEqual(hash, stored.codeHash));
    if (!matches) {
      await countWrongTry(tx, organizationId, userId);
      return "wrong";
    }
    await deleteDeletionCodes(tx, organizationId);
    await setPendingDeletion(tx, organizationId, dueAt, now);
    await recordAct(tx, now, caller, {
      event: "organization.deletion_confirmed",
      targetId: organizationId,
      details: { pending_deletion_at: dueAt.toISOString() },
    });
    await mailOwners(core, tx, organizationId, {
      kind: "deletion_scheduled",
      fill: { person: caller.name, email: caller.email, organization: organization.name, at: dueAt },
      url: `${core.publicUrl()}/dashboard`,
    });
    return "scheduled";
  });
  switch (outcome) {
    case "scheduled":
      return dueAt;
    case "wrong":
      throw new ApiError("DELETION_CODE_INVALID");
    case "expired":
      throw new ApiError("DELETION_CODE_EXPIRED");
    case "frozen":
      throw new ApiError("ORGANIZATION_FROZEN");
    case "not_owner":
      throw new ApiError("FORBIDDEN");
  }
}

export async function cancelDeletion(core: Core, caller: MemberCaller): Promise<void> {
  const { db, clock } = core;
  const now = clock.now();
  const { organizationId } = caller;
  await db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (organization === null || !(await clearPendingDeletion(tx, organizationId, now))) {
      throw new ApiError("NO_DELETION_SCHEDULED");
    }
    await recordAct(tx, now, caller, {
      event: "organization.deletion_cancelled",
      targetId: organizationId,
    });
    await mailOwners(core, tx, organizationId, {
      kind: "deletion_cancelled",
      fill: { person: caller.name, email: caller.email, organization: organization.name },
      url: `${core.publicUrl()}/dashboard`,
    });
  });
}

import type { OrganizationId, UserId } from "@assay/contract/ids";
import type * as contract from "@assay/contract/organizations";
import type { BodyOf } from "@assay/contract/route";
import { actorOf, recordAct, recordAudit } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { violates } from "../../platform/db/errors.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { MemberCaller, UserCaller } from "../../platform/kernel/caller.ts";
import { requireEmail } from "../../platform/kernel/email.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import { requireVerifiedEmail } from "../accounts/require-verified-email.ts";
import { newDocumentIdKey } from "./document-id-key.ts";
import { insertMembership } from "./member.store.ts";
import {
  countCreatedBy,
  insertOrganization,
  type OwnOrganizationRow,
  readOwnOrganization,
  setActiveOrganization,
  updateOrganization,
} from "./organization.store.ts";

/** The caller becomes the owner, and the new organization becomes their active one. */
export async function createOrganization(
  core: Core,
  caller: UserCaller,
  body: BodyOf<typeof contract.createOrganization>,
): Promise<OwnOrganizationRow> {
  const { db, clock, ring, config } = core;
  await requireVerifiedEmail(core, caller);
  const now = clock.now();
  const id = newUuid<OrganizationId>(now);
  const name = body.name.trim();
  try {
    return await db.transaction(async (tx) => {
      if ((await countCreatedBy(tx, caller.userId)) >= config.organizationsPerUser)
        throw new ApiError("ORGANIZATION_LIMIT_REACHED", {
          hint: `An account may create ${config.organizationsPerUser} organizations. Delete one that you do not need, or ask the operator to raise ORGANIZATIONS_PER_USER.`,
        });
      const documentIdKey = newDocumentIdKey(ring, id);
      await insertOrganization(tx, {
        id,
        name,
        slug: body.slug,
        documentIdKey,
        createdBy: caller.userId,
        now,
      });
      await insertMembership(tx, id, caller.userId, "owner", now);
      await setActiveOrganization(tx, id, caller.userSessionId);
      await recordAudit(tx, now, {
        environment: null,
        organizationId: id,
        event: "organization.created",
        actor: actorOf(caller),
        targetId: id,
        details: { name, slug: body.slug },
      });
      return ownOrganization(tx, id, caller.userId);
    });
  } catch (error) {
    throw slugTaken(error);
  }
}

const urlFields = ["logo_url", "website_url", "privacy_url", "terms_url"] as const;

export async function changeOrganization(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  body: BodyOf<typeof contract.updateOrganization>,
): Promise<OwnOrganizationRow> {
  const now = clock.now();
  const { organizationId } = caller;
  if (body.agents_may_change_webhooks !== undefined && caller.role !== "owner")
    throw new ApiError("ROLE_REQUIRED", {
      message: "Only an owner may change `agents_may_change_webhooks`.",
      hint: "Ask an owner of the organization to do it.",
    });
  for (const field of urlFields) {
    const value = body[field];
    if (typeof value === "string" && !isWithoutCredentials(value))
      throw badField(field, "must be an https:// address without credentials");
  }
  const change = { ...body };
  if (body.name !== undefined) change.name = body.name.trim();
  if (typeof body.brand_color === "string") change.brand_color = body.brand_color.toLowerCase();
  if (typeof body.support_email === "string")
    change.support_email = requireEmail("support_email", body.support_email).address;
  try {
    return await db.transaction(async (tx) => {
      await updateOrganization(tx, organizationId, change, now);
      await recordAct(tx, now, caller, {
        event: "organization.updated",
        targetId: organizationId,
        details: { ...body },
      });
      return ownOrganization(tx, organizationId, caller.userId);
    });
  } catch (error) {
    throw slugTaken(error);
  }
}

export async function selectOrganization(
  { db }: Pick<Core, "db">,
  caller: MemberCaller,
): Promise<OwnOrganizationRow> {
  await setActiveOrganization(db, caller.organizationId, caller.userSessionId);
  return ownOrganization(db, caller.organizationId, caller.userId);
}

/** Throws not found if the membership has ended since the request was authenticated. */
export async function ownOrganization(db: Queryable, organizationId: OrganizationId, userId: UserId) {
  const row = await readOwnOrganization(db, organizationId, userId);
  if (row === null) throw new ApiError("NOT_FOUND");
  return row;
}

function slugTaken(error: unknown): unknown {
  return violates(error, "organizations_slug") ? new ApiError("SLUG_TAKEN") : error;
}

/**
 * These addresses are shown to people who are verified, so none may contain a password. The contract requires
 * https.
 */
function isWithoutCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "";
}

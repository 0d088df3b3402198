import type * as contract from "@assay/contract/api-keys";
import { apiKeyForm } from "@assay/contract/facts";
import type { ApiKeyId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { Tenant, TenantMember } from "../../platform/kernel/caller.ts";
import { newUuid, randomText } from "../../platform/kernel/ids.ts";
import { liveIsClosed } from "../../platform/kernel/live-is-closed.ts";
import { lockOrganization } from "../organizations/organization.store.ts";
import { notifyRightsChanged } from "../organizations/rights.store.ts";
import { type ApiKeyRow, countApiKeys, deleteApiKey, insertApiKey, updateApiKey } from "./api-key.store.ts";

type Needs = Pick<Core, "db" | "clock" | "ring">;
type CreationNeeds = Needs & Pick<Core, "config">;

/** The record, and the key itself, which is shown only once. */
export async function createApiKey(
  { db, clock, ring, config }: CreationNeeds,
  caller: TenantMember,
  body: BodyOf<typeof contract.createApiKey>,
): Promise<{ row: ApiKeyRow; key: string }> {
  const now = clock.now();
  const key = apiKeyForm.prefix + randomText(apiKeyForm.length);
  const { organizationId } = caller;
  const tenant: Tenant = { organizationId, environment: body.environment ?? caller.environment };
  const row = await db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (tenant.environment === "live" && organization?.environment !== "live") throw liveIsClosed();
    if ((await countApiKeys(tx, tenant)) >= config.organizationMaxApiKeys)
      throw new ApiError("CONFLICT", {
        message: "The organization has reached its limit of API keys in this environment.",
        hint: `An organization may have ${config.organizationMaxApiKeys} API keys in each environment. Delete an unused one.`,
      });
    const { hash, keyId } = ring.keyedHash("api-key-hash", key);
    const created = await insertApiKey(tx, {
      id: newUuid(now),
      ...tenant,
      name: body.name.trim(),
      keyPrefix: key.slice(0, apiKeyForm.prefix.length + apiKeyForm.shownLength),
      scopes: body.scopes,
      secretHash: hash,
      hashKeyId: keyId,
      createdBy: caller.userId,
      now,
    });
    await recordAct(tx, now, caller, {
      event: "api_key.created",
      targetId: created.id,
      environment: tenant.environment,
      details: { name: created.name, scopes: created.scopes },
    });
    return created;
  });
  return { row, key };
}

export function changeApiKey(
  { db, clock }: Needs,
  caller: TenantMember,
  keyId: ApiKeyId,
  body: BodyOf<typeof contract.updateApiKey>,
): Promise<ApiKeyRow> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const change = { name: body.name?.trim(), scopes: body.scopes, enabled: body.enabled, now };
    const updated = await updateApiKey(tx, caller, keyId, change);
    if (updated === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "api_key.updated",
      targetId: updated.id,
      details: { ...body },
    });
    if (body.enabled === false || body.scopes !== undefined) notifyRightsChanged(tx, caller.organizationId);
    return updated;
  });
}

/** Immediate and irreversible: the next request with the key is refused. */
export async function removeApiKey(
  { db, clock }: Needs,
  caller: TenantMember,
  keyId: ApiKeyId,
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const deleted = await deleteApiKey(tx, caller, keyId);
    if (deleted === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "api_key.deleted",
      targetId: keyId,
      details: { name: deleted.name },
    });
    notifyRightsChanged(tx, caller.organizationId);
  });
}

import * as contract from "@assay/contract/api-keys";
import { apiKeyForm } from "@assay/contract/facts";
import { actorOf, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { ApiError } from "../http/api-error.ts";
import { type Binding, bind } from "../http/mount.ts";
import { newUuid, randomText } from "../lib/ids.ts";
import { deleteApiKey, insertApiKey, listApiKeys, updateApiKey } from "./api-key.store.ts";
import { viewApiKey } from "./api-key.view.ts";
import type { KeyUsage } from "./key-usage.ts";

export function apiKeyRoutes({ db, clock, ring }: Core, usage: KeyUsage): Binding[] {
  return [
    bind(contract.createApiKey, async ({ caller, body }) => {
      const now = clock.now();
      const { organizationId } = caller;
      const key = apiKeyForm.prefix + randomText(apiKeyForm.length);
      const row = await db.transaction(async (tx) => {
        const created = await insertApiKey(tx, {
          id: newUuid(now),
          organizationId,
          name: body.name.trim(),
          scopes: body.scopes,
          secretHash: ring.hash("api-key-hash", key),
          hashKeyId: ring.currentId,
          now,
        });
        await recordAudit(tx, now, {
          organizationId,
          event: "api_key.created",
          actor: actorOf(caller),
          targetId: created.id,
          details: { name: created.name, scopes: created.scopes },
        });
        return created;
      });
      return { ...viewApiKey(row), key };
    }),

    bind(contract.listApiKeys, async ({ caller, query }) => {
      await usage.flush();
      return listApiKeys(db, caller.organizationId, query.limit, query.starting_after, viewApiKey);
    }),

    bind(contract.updateApiKey, async ({ caller, params, body }) => {
      const now = clock.now();
      const { organizationId } = caller;
      await usage.flush();
      const row = await db.transaction(async (tx) => {
        const change = { name: body.name?.trim(), scopes: body.scopes, enabled: body.enabled, now };
        const updated = await updateApiKey(tx, organizationId, params.id, change);
        if (updated === null) throw new ApiError("NOT_FOUND");
        await recordAudit(tx, now, {
          organizationId,
          event: "api_key.updated",
          actor: actorOf(caller),
          targetId: updated.id,
          details: { ...body },
        });
        return updated;
      });
      return viewApiKey(row);
    }),

    bind(contract.deleteApiKey, async ({ caller, params }) => {
      const now = clock.now();
      const { organizationId } = caller;
      await db.transaction(async (tx) => {
        const deleted = await deleteApiKey(tx, organizationId, params.id);
        if (deleted === null) throw new ApiError("NOT_FOUND");
        await recordAudit(tx, now, {
          organizationId,
          event: "api_key.deleted",
          actor: actorOf(caller),
          targetId: params.id,
          details: { name: deleted.name },
        });
      });
    }),
  ];
}

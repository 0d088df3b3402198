import type { ApiKey } from "@assay/contract/api-keys";
import type { Static } from "typebox";
import { environmentOf } from "../../platform/kernel/caller.ts";
import type { ApiKeyRow } from "./api-key.store.ts";

export function viewApiKey(row: ApiKeyRow): Static<typeof ApiKey> {
  return {
    id: row.id,
    name: row.name,
    key_prefix: row.keyPrefix,
    scopes: row.scopes,
    environment: environmentOf(row),
    enabled: row.enabled,
    request_count: row.requestCount,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    created_by:
      row.createdBy === null || row.creatorName === null
        ? null
        : { id: row.createdBy, name: row.creatorName },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

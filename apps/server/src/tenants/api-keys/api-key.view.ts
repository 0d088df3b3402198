import type { ApiKey } from "@assay/contract/api-keys";
import type { Static } from "typebox";
import { environmentOf } from "../../platform/kernel/caller.ts";
import type { ApiKeyRow } from "./api-key.store.ts";

export function viewApiKey(row: ApiKeyRow): Static<typeof ApiKey> {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    environment: environmentOf(row),
    enabled: row.enabled,
    request_count: row.request_count,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_by:
      row.created_by === null || row.creator_name === null
        ? null
        : { id: row.created_by, name: row.creator_name },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

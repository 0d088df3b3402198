import type { ApiRequest } from "@assay/contract/api-log";
import type { Static } from "typebox";
import type { ApiRequestRow } from "./api-request.store.ts";

export function viewApiRequest(row: ApiRequestRow): Static<typeof ApiRequest> {
  return {
    id: row.id,
    request_id: row.requestId,
    api_key: { id: row.apiKeyId, name: row.keyName },
    method: row.method,
    path: row.path,
    status: row.status,
    error_code: row.errorCode,
    duration_ms: row.durationMs,
    replayed: row.replayed,
    count: row.requests,
    created_at: row.createdAt.toISOString(),
  };
}

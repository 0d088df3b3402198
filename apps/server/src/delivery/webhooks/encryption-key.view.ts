import type { WebhookEncryptionKey } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import type { EncryptionKeyRow } from "./encryption-key.store.ts";

export function viewEncryptionKey(row: EncryptionKeyRow): Static<typeof WebhookEncryptionKey> {
  return {
    id: row.id,
    webhook_endpoint_id: row.endpoint_id,
    key_id: row.key_id,
    algorithm: "RSA-OAEP-256",
    key_type: "RSA",
    jwk: { kty: "RSA", n: row.n, e: row.e, alg: "RSA-OAEP-256", use: "enc", kid: row.key_id },
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    deactivated_at: row.deactivated_at?.toISOString() ?? null,
  };
}

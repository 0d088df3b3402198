import type { WebhookEncryptionKey } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import type { EncryptionKeyRow } from "./encryption-key.store.ts";

export function viewEncryptionKey(row: EncryptionKeyRow): Static<typeof WebhookEncryptionKey> {
  return {
    id: row.id,
    webhook_endpoint_id: row.endpointId,
    key_id: row.keyId,
    algorithm: "RSA-OAEP-256",
    key_type: "RSA",
    jwk: { kty: "RSA", n: row.n, e: row.e, alg: "RSA-OAEP-256", use: "enc", kid: row.keyId },
    is_active: row.isActive,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    deactivated_at: row.deactivatedAt?.toISOString() ?? null,
  };
}

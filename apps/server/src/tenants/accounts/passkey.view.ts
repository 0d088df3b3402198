import type { Passkey } from "@assay/contract/accounts";
import type { Static } from "typebox";
import type { PasskeyRow } from "./passkey.store.ts";

export function viewPasskey(row: PasskeyRow): Static<typeof Passkey> {
  return {
    id: row.id,
    name: row.name,
    synced: row.synced,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
  };
}

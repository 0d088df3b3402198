import type { User } from "@assay/contract/accounts";
import type { Static } from "typebox";
import type { UserRow } from "./user.store.ts";

export function viewUser(row: UserRow): Static<typeof User> {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    email_verified: row.email_verified_at !== null,
    created_at: row.created_at.toISOString(),
  };
}

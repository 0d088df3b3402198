import type { Member } from "@assay/contract/organizations";
import type { Static } from "typebox";
import type { MemberRow } from "./member.store.ts";

export function viewMade(row: MemberRow): Static<typeof Member>["made"] {
  return {
    active_api_keys: row.activeApiKeys,
    webhook_endpoints: row.webhookEndpoints,
    webhook_keys: row.webhookKeys,
  };
}

export function viewMember(row: MemberRow): Static<typeof Member> {
  return {
    id: row.id,
    user_id: row.userId,
    name: row.name,
    email: row.email,
    role: row.role,
    made: viewMade(row),
    created_at: row.createdAt.toISOString(),
  };
}

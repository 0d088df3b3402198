import type { Member } from "@assay/contract/organizations";
import type { Static } from "typebox";
import type { MemberRow } from "./member.store.ts";

export function viewMade(row: MemberRow): Static<typeof Member>["made"] {
  const { active_api_keys, webhook_endpoints, webhook_keys } = row;
  return { active_api_keys, webhook_endpoints, webhook_keys };
}

export function viewMember(row: MemberRow): Static<typeof Member> {
  return {
    id: row.id,
    user_id: row.user_id,
    name: row.name,
    email: row.email,
    role: row.role,
    made: viewMade(row),
    created_at: row.created_at.toISOString(),
  };
}

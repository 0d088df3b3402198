import type { Account, User, UserSession } from "@assay/contract/accounts";
import type { UserSessionId } from "@assay/contract/ids";
import type { Static } from "typebox";
import type { AccountRow, UserRow, UserSessionRow } from "./user.store.ts";

export function viewUser(row: UserRow): Static<typeof User> {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    email_verified: row.email_verified_at !== null,
    created_at: row.created_at.toISOString(),
  };
}

export function viewAccount(row: AccountRow, verificationRequired: boolean): Static<typeof Account> {
  return {
    ...viewUser(row),
    email_verification_required: verificationRequired,
    language: row.language,
    has_password: row.password_hash !== null,
    totp_enabled: row.totp_enabled,
    backup_codes_left: row.backup_codes_left,
    passkey_count: row.passkey_count,
    is_operator: row.is_operator,
  };
}

export function viewUserSession(row: UserSessionRow, currentId: UserSessionId): Static<typeof UserSession> {
  return {
    id: row.id,
    current: row.id === currentId,
    user_agent: row.user_agent,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
  };
}

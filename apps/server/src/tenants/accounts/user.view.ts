import type { Account, User, UserSession } from "@assay/contract/accounts";
import type { UserSessionId } from "@assay/contract/ids";
import type { Static } from "typebox";
import type { AccountRow, UserRow, UserSessionRow } from "./user.store.ts";

export function viewUser(row: UserRow): Static<typeof User> {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    email_verified: row.emailVerifiedAt !== null,
    created_at: row.createdAt.toISOString(),
  };
}

export function viewAccount(row: AccountRow, verificationRequired: boolean): Static<typeof Account> {
  return {
    ...viewUser(row),
    email_verification_required: verificationRequired,
    language: row.language,
    has_password: row.passwordHash !== null,
    totp_enabled: row.totpEnabled,
    backup_codes_left: row.backupCodesLeft,
    passkey_count: row.passkeyCount,
    is_operator: row.isOperator,
  };
}

export function viewUserSession(row: UserSessionRow, currentId: UserSessionId): Static<typeof UserSession> {
  return {
    id: row.id,
    current: row.id === currentId,
    user_agent: row.userAgent,
    created_at: row.createdAt.toISOString(),
    last_seen_at: row.lastSeenAt.toISOString(),
  };
}

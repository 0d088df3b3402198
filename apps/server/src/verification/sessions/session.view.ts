import type { Attempt, Session, SessionWithConsent } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { demandsOf } from "./requirements.ts";
import type { SessionRow, VerificationAttemptRow } from "./session.store.ts";
import { attemptStatusAt, statusAt } from "./session.ts";
import type { SessionConsentRow } from "./session-consent.store.ts";

/** Successes of earlier versions do not say it, and no phone vouched for itself then. */
const unsaid = { device: "unattested" } as const;

/** A session that expired reads the same before and after the job has written it down. */
export function viewSession(row: SessionRow, now: Date, publicUrl: string): Static<typeof Session> {
  const status = statusAt({ status: row.status, expiresAt: row.expires_at }, now);
  const expired = status === "expired";
  return {
    id: row.id,
    status,
    failure_code: row.failure_code,
    unmet_requirement: row.unmet_requirement,
    nfc_tries_used: row.nfc_tries_used,
    liveness_tries_used: row.liveness_tries_used,
    contract_version: row.contract_version,
    share_fields: row.share_fields,
    requirements: demandsOf(row.requirements),
    // A process of the version before may have taken a success back without removing it.
    evidence: status === "succeeded" && row.evidence !== null ? { ...unsaid, ...row.evidence } : null,
    locale: row.locale,
    redirect_url: row.redirect_url ?? `${publicUrl}/verify/${row.id}/complete`,
    embed_origin: row.embed_origin,
    webhook_endpoint_id: row.webhook_endpoint_id,
    client_reference_id: row.client_reference_id,
    metadata: row.metadata,
    sandbox: row.sandbox,
    verification_url: `${publicUrl}/verify/${row.id}`,
    expires_at: row.expires_at.toISOString(),
    completed_at: (expired ? row.expires_at : row.completed_at)?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: (expired ? row.expires_at : row.updated_at).toISOString(),
  };
}

export function viewAttempt(row: VerificationAttemptRow, now: Date): Static<typeof Attempt> {
  const { status, failureCode, expired } = attemptStatusAt(
    { status: row.status, failureCode: row.failure_code, sessionExpiresAt: row.session_expires_at },
    now,
  );
  return {
    id: row.id,
    session_id: row.session_id,
    status,
    failure_code: failureCode,
    risk_score: row.risk_score,
    completed_at: (expired ? row.session_expires_at : row.completed_at)?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: (expired ? row.session_expires_at : row.updated_at).toISOString(),
  };
}

export function viewConsent(row: SessionConsentRow): Static<typeof SessionWithConsent>["consent"] {
  return row.given_at === null
    ? null
    : {
        selected_field_keys: row.selected_field_keys ?? [],
        given_at: row.given_at.toISOString(),
        withdrawn_at: row.withdrawn_at?.toISOString() ?? null,
      };
}

import { defaultMethods } from "@assay/contract/facts";
import type { DataOf } from "@assay/contract/route";
import type { Attempt, readTimeline, Session, SessionWithConsent } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { plan } from "./plan.ts";
import { demandsOf } from "./requirements.ts";
import { returnCodeSha256 } from "./return-code.ts";
import type { SessionRow, VerificationAttemptRow } from "./session.store.ts";
import { attemptStatusAt, statusAt } from "./session.ts";
import type { SessionConsentRow } from "./session-consent.store.ts";
import { triesOf } from "./tries.ts";

/** An expired session looks the same before and after the job has stored it. */
export function viewSession(row: SessionRow, now: Date, publicUrl: string): Static<typeof Session> {
  const status = statusAt(row, now);
  const expired = status === "expired";
  return {
    id: row.id,
    status,
    failure_code: row.failureCode,
    unmet_requirement: row.unmetRequirement,
    ...triesOf(row),
    methods: row.methods ?? [...defaultMethods],
    contract_version: row.contractVersion,
    share_fields: row.shareFields,
    requirements: demandsOf(row.requirements),
    // A process of the previous version may have retracted a success without removing it.
    evidence: status === "succeeded" && row.evidence !== null ? viewEvidence(row.evidence) : null,
    locale: row.locale,
    redirect_url: row.redirectUrl ?? `${publicUrl}/verify/${row.id}/complete`,
    return_code_sha256: returnCodeSha256(row),
    template_id: row.templateId,
    embed_origin: row.embedOrigin,
    webhook_endpoint_id: row.webhookEndpointId,
    client_reference_id: row.clientReferenceId,
    metadata: row.metadata,
    sandbox: row.sandbox,
    verification_url: `${publicUrl}/verify/${row.id}`,
    expires_at: row.expiresAt.toISOString(),
    completed_at: (expired ? row.expiresAt : row.completedAt)?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: (expired ? row.expiresAt : row.updatedAt).toISOString(),
  };
}

/** Successes of earlier versions contain neither, and had no attestation. */
function viewEvidence(evidence: NonNullable<SessionRow["evidence"]>): NonNullable<SessionRow["evidence"]> {
  return evidence.method === "chip_and_face"
    ? { ...evidence, device: evidence.device ?? "unattested", face_checks: evidence.face_checks ?? [] }
    : evidence;
}

export function viewAttempt(row: VerificationAttemptRow, now: Date): Static<typeof Attempt> {
  const { status, failureCode, expired } = attemptStatusAt(row, now);
  return {
    id: row.id,
    session_id: row.sessionId,
    status,
    failure_code: failureCode,
    risk_score: row.riskScore,
    completed_at: (expired ? row.sessionExpiresAt : row.completedAt)?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: (expired ? row.sessionExpiresAt : row.updatedAt).toISOString(),
  };
}

export function viewTimeline(
  row: Pick<SessionRow, "openedAt" | "methods" | "steps">,
): DataOf<typeof readTimeline> {
  const done: Readonly<Partial<Record<string, { passed_at?: string }>>> = row.steps;
  return {
    opened_at: row.openedAt?.toISOString() ?? null,
    steps: plan(row).map(({ name, tries }) => ({ name, tries, passed_at: done[name]?.passed_at ?? null })),
  };
}

export function viewConsent(row: SessionConsentRow): Static<typeof SessionWithConsent>["consent"] {
  return row.givenAt === null
    ? null
    : {
        selected_field_keys: row.selectedFieldKeys ?? [],
        given_at: row.givenAt.toISOString(),
        withdrawn_at: row.withdrawnAt?.toISOString() ?? null,
      };
}

import { Type } from "typebox";
import { environments } from "./facts.ts";
import type { AuditLogId } from "./ids.ts";
import { pageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { Nullable, OneOf, open, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("Organization");

/** Everything that is written to the audit log of an organization. */
export const auditEvents = [
  "organization.created",
  "organization.updated",
  "member.role_changed",
  "member.removed",
  "member.left",
  "invitation.created",
  "invitation.accepted",
  "invitation.declined",
  "invitation.revoked",
  "domain.challenge_started",
  "domain.verified",
  "domain.lost",
  "domain.downgraded",
  "domain.restored",
  "domain.removed",
  "redirect_uri.created",
  "redirect_uri.deleted",
  "business_details.updated",
  "rp_terms.accepted",
  "organization.went_live",
  "organization.deletion_requested",
  "organization.deletion_confirmed",
  "organization.deletion_cancelled",
  "api_key.created",
  "api_key.updated",
  "api_key.deleted",
  "member.account_deleted",
  "session.created",
  "session.succeeded",
  "session.failed",
  "session.expired",
  "session.cancelled",
  "session.face_rejected",
  "session.face_suspected",
  "session.wallet_rejected",
  "session_template.created",
  "session_template.updated",
  "session_template.deleted",
  "webhook_endpoint.created",
  "webhook_endpoint.updated",
  "webhook_endpoint.disabled",
  "webhook_endpoint.deleted",
  "webhook_endpoint.tested",
  "webhook_secret.revealed",
  "webhook_secret.rotated",
  "webhook_key.registered",
  "webhook_key.deactivated",
  "webhook_key.reactivated",
  "webhook_endpoint.retried",
  "webhook_delivery.retried",
  "webhook_event.replayed",
] as const;
export type AuditEvent = (typeof auditEvents)[number];

export const AuditLog = open("AuditLog", {
  id: UuidOf<AuditLogId>(),
  event: OneOf(auditEvents),
  actor_type: OneOf(["user", "key", "person", "system"], {
    description: "`person` is the person being verified; `system` is the service itself.",
  }),
  actor_id: Nullable(Type.String({ description: "Identifier of the user or API key." })),
  target_id: Nullable(Type.String({ description: "Identifier of what was changed." })),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: "Names and settings, never a secret or a claim.",
  }),
  environment: Nullable(
    OneOf(environments, {
      description:
        "The environment of what was changed. Null for what both share, and for entries from before there were two.",
    }),
  ),
  created_at: Timestamp,
});

export const listAuditLogs = route("GET /v1/auth/orgs/audit-logs", {
  id: "listAuditLogs",
  summary: "List what was done in the organization",
  access: { role: "admin" },
  query: pageQuery(UuidOf<AuditLogId>(), {
    event: Type.Optional(OneOf(auditEvents)),
    actor_id: Type.Optional(Type.String({ maxLength: 100 })),
    created_from: Type.Optional(Timestamp),
    created_to: Type.Optional(Timestamp),
  }),
  reply: { status: 200, list: AuditLog },
});

export const auditRoutes = route.declared;

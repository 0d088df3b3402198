import type { AuditEvent } from "@assay/contract/audit";
import { intlTag, type Messages, t } from "../i18n/words.ts";
import { inSentence } from "../ui/in-sentence.ts";

type Details = Readonly<Record<string, unknown>>;
type Words = Readonly<Record<string, string>>;
type Deeds = Messages["audit"]["deed"];
/** Events whose sentence has details. */
type Detailed = { [E in AuditEvent]: Deeds[E] extends string ? never : E }[AuditEvent];

/** For a code without a text. */
const spaced = (code: string) => code.replaceAll("_", " ");

function text(details: Details, name: string): string | null {
  const value = details[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** The first known of these, in quotation marks. */
function quoted(details: Details, ...names: string[]): string {
  const value = names.map((name) => text(details, name)).find((each) => each !== null);
  return value === undefined || value === null ? "" : t.ui.quoted(value);
}

/** A code in the words of the page that shows it, within a sentence. */
function because(details: Details, name = "reason"): string {
  const code = text(details, name);
  if (code === null) return "";
  const known: Words = { ...t.sessions.failure, ...t.webhooks.disabledReason, ...t.audit.reason };
  return `(${inSentence(known[code] ?? spaced(code))})`;
}

function fieldsOf(details: Details): string {
  const known: Words = t.audit.field;
  const names = Object.keys(details).map((name) => known[name] ?? spaced(name));
  return new Intl.ListFormat(intlTag).format(names);
}

function role(details: Details, name = "role"): string {
  const code = text(details, name);
  const known: Words = t.ui.roles;
  return code === null ? "?" : inSentence(known[code] ?? code);
}

function profileChange(details: Details): string {
  if (details.logo === "uploaded") return t.audit.change.logoUploaded;
  if (details.logo === "removed") return t.audit.change.logoRemoved;
  const isChanged = Object.keys(details).length > 0;
  return isChanged ? t.audit.deed["organization.updated"](fieldsOf(details)) : t.audit.change.profileSaved;
}

function keyChange(details: Details): string {
  if (details.enabled === false) return t.audit.change.keyDisabled;
  if (details.enabled === true) return t.audit.change.keyEnabled;
  const isChanged = Object.keys(details).length > 0;
  return isChanged ? t.audit.deed["api_key.updated"](fieldsOf(details)) : t.audit.change.key;
}

function endpointChange(details: Details): string {
  if (Object.keys(details).length === 1 && typeof details.enabled === "boolean")
    return details.enabled ? t.audit.change.endpointEnabled : t.audit.change.endpointDisabled;
  return t.audit.deed["webhook_endpoint.updated"](quoted(details, "name", "host"));
}

const domain = (details: Details) => text(details, "apex_domain") ?? t.audit.noun.domain;
const address = (details: Details) => text(details, "pattern") ?? t.audit.noun.address;
const isListener = (details: Details) => details.kind === "listener";

const sentences: Record<Detailed, (details: Details, deeds: Deeds) => string> = {
  "organization.created": (details, deeds) => deeds["organization.created"](quoted(details, "name")),
  "organization.updated": profileChange,
  "member.role_changed": (details, deeds) =>
    deeds["member.role_changed"]({ from: role(details, "from"), to: role(details, "to") }),
  "member.removed": (details, deeds) => deeds["member.removed"](role(details)),
  "invitation.created": (details, deeds) => deeds["invitation.created"](role(details)),
  "invitation.accepted": (details, deeds) => deeds["invitation.accepted"](role(details)),
  "invitation.declined": (details, deeds) => deeds["invitation.declined"](role(details)),
  "invitation.revoked": (details, deeds) =>
    deeds["invitation.revoked"]({ role: role(details), reason: because(details) }),
  "domain.challenge_started": (details, deeds) => deeds["domain.challenge_started"](domain(details)),
  "domain.verified": (details, deeds) =>
    (details.takeover === true ? t.audit.change.takenOver : deeds["domain.verified"])(domain(details)),
  "domain.lost": (details, deeds) => deeds["domain.lost"](domain(details)),
  "domain.downgraded": (details, deeds) => deeds["domain.downgraded"](domain(details)),
  "domain.restored": (details, deeds) => deeds["domain.restored"](domain(details)),
  "domain.removed": (details, deeds) => deeds["domain.removed"](domain(details)),
  "redirect_uri.created": (details, deeds) => deeds["redirect_uri.created"](address(details)),
  "redirect_uri.deleted": (details, deeds) => deeds["redirect_uri.deleted"](address(details)),
  "business_details.updated": (details, deeds) =>
    Object.keys(details).length === 0
      ? t.audit.change.business
      : deeds["business_details.updated"](fieldsOf(details)),
  "rp_terms.accepted": (details, deeds) => deeds["rp_terms.accepted"](text(details, "terms_version") ?? "?"),
  "api_key.created": (details, deeds) => deeds["api_key.created"](quoted(details, "name")),
  "api_key.updated": keyChange,
  "api_key.deleted": (details, deeds) => deeds["api_key.deleted"](quoted(details, "name")),
  "session.failed": (details, deeds) => deeds["session.failed"](because(details, "failure_code")),
  "session.cancelled": (details, deeds) => deeds["session.cancelled"](because(details)),
  "session_template.created": (details, deeds) => deeds["session_template.created"](quoted(details, "name")),
  "session_template.updated": (details, deeds) => deeds["session_template.updated"](quoted(details, "name")),
  "session_template.deleted": (details, deeds) => deeds["session_template.deleted"](quoted(details, "name")),
  "webhook_endpoint.created": (details, deeds) =>
    isListener(details)
      ? t.audit.change.listenerAdded(quoted(details, "name"))
      : deeds["webhook_endpoint.created"](quoted(details, "name", "host")),
  "webhook_endpoint.updated": endpointChange,
  "webhook_endpoint.disabled": (details, deeds) => deeds["webhook_endpoint.disabled"](because(details)),
  "webhook_endpoint.deleted": (details, deeds) => {
    const words = isListener(details) ? t.audit.change.listenerDeleted : deeds["webhook_endpoint.deleted"];
    return words({ name: quoted(details, "name", "host"), reason: because(details) });
  },
  "webhook_key.registered": (details, deeds) => deeds["webhook_key.registered"](quoted(details, "key_id")),
  "webhook_key.deactivated": (details, deeds) => deeds["webhook_key.deactivated"](quoted(details, "key_id")),
  "webhook_key.reactivated": (details, deeds) => deeds["webhook_key.reactivated"](quoted(details, "key_id")),
  "webhook_endpoint.retried": ({ deliveries }, deeds) =>
    typeof deliveries === "number" ? deeds["webhook_endpoint.retried"](deliveries) : t.audit.change.retried,
  "webhook_event.replayed": ({ deliveries }, deeds) =>
    typeof deliveries === "number" ? deeds["webhook_event.replayed"](deliveries) : t.audit.change.replayed,
};

/** The action, to be read after the actor's name: “Ada” + “changed the brand color of the organization”. */
export function auditDeed(event: AuditEvent, details: Details): string {
  const deeds = t.audit.deed;
  const deed = deeds[event];
  const sentence = typeof deed === "string" ? deed : sentences[event as Detailed](details, deeds);
  // A missing name or reason leaves its spaces behind.
  return sentence.replace(/ {2,}/g, " ").trim();
}

import type { AuditEvent } from "@assay/contract/audit";

type Details = Readonly<Record<string, unknown>>;

function text(details: Details, name: string): string | null {
  const value = details[name];
  return typeof value === "string" && value !== "" ? value : null;
}

const quoted = (value: string | null, otherwise: string) => (value === null ? otherwise : `“${value}”`);
const inWords = (code: string) => code.replaceAll("_", " ");
const because = (details: Details, name = "reason") => {
  const reason = text(details, name);
  return reason === null ? "" : ` (${inWords(reason)})`;
};

/** What the fields of an organization are called on the page. */
const profileNames: Readonly<Record<string, string>> = {
  name: "the name",
  slug: "the slug",
  website_url: "the website",
  support_email: "the support email",
  privacy_url: "the privacy notice",
  terms_url: "the terms",
  logo_url: "the logo URL",
  brand_color: "the brand color",
};

function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function profileChange(details: Details): string {
  if (details.logo === "uploaded") return "uploaded a logo";
  if (details.logo === "removed") return "removed the logo";
  const changed = Object.keys(details).map((name) => profileNames[name] ?? inWords(name));
  return changed.length === 0 ? "saved the profile" : `changed ${listed(changed)} of the organization`;
}

function keyChange(details: Details): string {
  if (details.enabled === false) return "disabled the API key";
  if (details.enabled === true) return "enabled the API key";
  const changed = Object.keys(details).map(inWords);
  return changed.length === 0 ? "changed the API key" : `changed ${listed(changed)} of the API key`;
}

function endpointChange(details: Details): string {
  if (Object.keys(details).length === 1 && typeof details.enabled === "boolean")
    return details.enabled ? "enabled the webhook endpoint" : "disabled the webhook endpoint";
  return `changed the webhook endpoint ${quoted(text(details, "name") ?? text(details, "host"), "")}`.trim();
}

const domain = (details: Details) => text(details, "apex_domain") ?? "a domain";
const role = (details: Details) => text(details, "role") ?? "member";
const endpoint = (details: Details) =>
  details.kind === "listener"
    ? `the listener ${quoted(text(details, "name"), "")}`.trim()
    : `the webhook endpoint ${quoted(text(details, "name") ?? text(details, "host"), "")}`.trim();

/** What somebody did, to be read after their name: “Ada” + “changed the brand color of the organization”. */
const deeds: Record<AuditEvent, (details: Details) => string> = {
  "organization.created": (details) => `created the organization ${quoted(text(details, "name"), "")}`.trim(),
  "organization.updated": profileChange,
  "organization.went_live": () => "opened live",
  "organization.deletion_requested": () => "asked for the code to delete the organization",
  "organization.deletion_confirmed": () => "scheduled the organization for deletion",
  "organization.deletion_cancelled": () => "kept the organization after all",
  "member.role_changed": (details) =>
    `changed the role of a member from ${text(details, "from") ?? "?"} to ${text(details, "to") ?? "?"}`,
  "member.removed": (details) => `removed a member (${role(details)})`,
  "member.left": () => "left the organization",
  "member.account_deleted": () => "deleted their account",
  "invitation.created": (details) => `invited a member as ${role(details)}`,
  "invitation.accepted": (details) => `accepted an invitation as ${role(details)}`,
  "invitation.declined": (details) => `declined an invitation as ${role(details)}`,
  "invitation.revoked": (details) => `revoked an invitation as ${role(details)}${because(details)}`,
  "domain.challenge_started": (details) => `started verifying ${domain(details)}`,
  "domain.verified": (details) =>
    `verified ${domain(details)}${details.takeover === true ? ", taking it over from another organization" : ""}`,
  "domain.lost": (details) => `lost ${domain(details)} to another organization`,
  "domain.downgraded": (details) => `no longer found the record of ${domain(details)}`,
  "domain.restored": (details) => `found the record of ${domain(details)} again`,
  "domain.removed": (details) => `removed ${domain(details)}`,
  "redirect_uri.created": (details) => `allowed redirects to ${text(details, "pattern") ?? "an address"}`,
  "redirect_uri.deleted": (details) => `removed redirects to ${text(details, "pattern") ?? "an address"}`,
  "business_details.updated": (details) =>
    `changed the business details${Object.keys(details).length === 0 ? "" : `: ${listed(Object.keys(details).map(inWords))}`}`,
  "rp_terms.accepted": (details) =>
    `accepted the relying-party terms, version ${text(details, "terms_version") ?? "?"}`,
  "api_key.created": (details) => `created the API key ${quoted(text(details, "name"), "")}`.trim(),
  "api_key.updated": keyChange,
  "api_key.deleted": (details) => `deleted the API key ${quoted(text(details, "name"), "")}`.trim(),
  "session.created": () => "created a session",
  "session.succeeded": () => "completed a session: succeeded",
  "session.failed": (details) => `completed a session: failed${because(details, "failure_code")}`,
  "session.expired": () => "closed an expired session",
  "session.cancelled": (details) => `cancelled a session${because(details)}`,
  "session.face_rejected": () => "failed a face check",
  "session.face_suspected": () => "passed a face check with signs of an attack",
  "session.wallet_rejected": () => "presented a credential that was rejected",
  "session_template.created": (details) => `created the template ${quoted(text(details, "name"), "")}`.trim(),
  "session_template.updated": (details) => `changed the template ${quoted(text(details, "name"), "")}`.trim(),
  "session_template.deleted": (details) => `deleted the template ${quoted(text(details, "name"), "")}`.trim(),
  "webhook_endpoint.created": (details) => `added ${endpoint(details)}`,
  "webhook_endpoint.updated": endpointChange,
  "webhook_endpoint.disabled": (details) => `disabled a webhook endpoint${because(details)}`,
  "webhook_endpoint.deleted": (details) => `deleted ${endpoint(details)}${because(details)}`,
  "webhook_endpoint.tested": () => "sent a test event",
  "webhook_secret.revealed": () => "revealed a signing secret",
  "webhook_secret.rotated": () => "rolled a signing secret",
  "webhook_key.registered": (details) =>
    `registered the encryption key ${quoted(text(details, "key_id"), "")}`.trim(),
  "webhook_key.deactivated": (details) =>
    `deactivated the encryption key ${quoted(text(details, "key_id"), "")}`.trim(),
  "webhook_key.reactivated": (details) =>
    `reactivated the encryption key ${quoted(text(details, "key_id"), "")}`.trim(),
  "webhook_endpoint.retried": ({ deliveries }) =>
    typeof deliveries === "number" ? `retried failed deliveries: ${deliveries}` : "retried failed deliveries",
  "webhook_delivery.retried": () => "retried a delivery",
  "webhook_event.replayed": (details) =>
    `retried the deliveries of an event${typeof details.deliveries === "number" ? ` (${details.deliveries})` : ""}`,
};

export function auditDeed(event: AuditEvent, details: Details): string {
  return deeds[event](details);
}

const nouns: Readonly<Record<string, string>> = {
  api_key: "API key",
  redirect_uri: "Redirect address",
  rp_terms: "Relying-party terms",
};

/** `webhook_endpoint.tested` → “Webhook endpoint tested”, for a list to choose from. */
export function auditLabel(event: AuditEvent): string {
  const [noun = "", deed = ""] = event.split(".");
  const words = nouns[noun] ?? inWords(noun);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${inWords(deed)}`;
}

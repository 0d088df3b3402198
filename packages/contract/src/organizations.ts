import { Type } from "typebox";
import { Email } from "./accounts.ts";
import { environments } from "./facts.ts";
import type { InvitationId, MembershipId, OrganizationId, UserId } from "./ids.ts";
import { pageQuery } from "./page.ts";
import { roles, routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Text, Timestamp, UuidOf } from "./schema.ts";
import { blankCharacters, unseenCharacters, urlLookAlikes } from "./shown-text.ts";

const route = routesOf("Organization");

export const OrganizationName = Text({ max: 120, examples: ["Acme Bank"] });
export const Slug = Type.String({ pattern: "^[a-z0-9-]{2,60}$", examples: ["acme-bank"] });
export const RoleName = OneOf(roles, { description: "Each role has the rights of the roles before it." });

const HttpsUrl = Type.String({
  minLength: 9,
  maxLength: 2048,
  pattern: `^https://[^${blankCharacters}${unseenCharacters}${urlLookAlikes}]+$`,
  examples: ["https://www.example.com/privacy"],
});

/** What people who are being verified see of the organization, besides its name. */
const profile = {
  brand_color: Nullable(
    Type.String({
      pattern: "^#[0-9A-Fa-f]{6}$",
      description:
        "The colour of buttons and icons on the person's page. Any colour works: the page chooses text colours and shades with enough contrast.",
      examples: ["#0a5c8f"],
    }),
  ),
  logo_url: Nullable({
    ...HttpsUrl,
    description:
      "A PNG, JPEG or WebP of at most 256 kB and 2000 pixels a side. Shown while the organization holds an active verified domain. This service fetches it, so viewers do not contact its host.",
    examples: ["https://www.example.com/logo.png"],
  }),
  website_url: Nullable(HttpsUrl),
  support_email: Nullable(Email),
  privacy_url: Nullable(HttpsUrl),
  terms_url: Nullable(HttpsUrl),
};

const agentsMayChangeWebhooks = Type.Boolean({
  description:
    "Whether agents that call through MCP may add and change webhook endpoints and encryption keys, and so decide who reads results. Only an owner changes it.",
});

export const Organization = open("Organization", {
  id: UuidOf<OrganizationId>(),
  name: OrganizationName,
  slug: Slug,
  environment: OneOf(environments, {
    description:
      "`live` once live is open, for good; until then `sandbox`. The sandbox works before and after.",
  }),
  role: OneOf(roles, { description: "The caller's role in it." }),
  ...profile,
  logo_uploaded_at: Nullable({
    ...Timestamp,
    description: "When a logo was uploaded. It is shown in place of `logo_url`.",
  }),
  agents_may_change_webhooks: agentsMayChangeWebhooks,
  pending_deletion_at: Nullable(
    Type.String({ format: "date-time", description: "When it will be deleted, while that is scheduled." }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const createOrganization = route("POST /v1/auth/orgs", {
  id: "createOrganization",
  summary: "Create an organization",
  description:
    "The caller becomes its owner, and it becomes the active organization. 409 `ORGANIZATION_LIMIT_REACHED` when the account has reached its limit, which the hint names.",
  access: { user: true },
  body: closed({ name: OrganizationName, slug: Slug }),
  reply: { status: 201, data: Organization },
  errors: ["SLUG_TAKEN", "EMAIL_NOT_VERIFIED", "ORGANIZATION_LIMIT_REACHED"],
});

export const listOrganizations = route("GET /v1/auth/orgs", {
  id: "listOrganizations",
  summary: "List the caller's organizations",
  access: { user: true },
  query: pageQuery(UuidOf<OrganizationId>(), {}),
  reply: { status: 200, list: Organization },
});

export const updateOrganization = route("PATCH /v1/auth/orgs", {
  id: "updateOrganization",
  summary: "Change the active organization's name, slug and profile",
  description:
    "Absent fields stay unchanged; null clears a field. `agents_may_change_webhooks` is for owners: 403 `ROLE_REQUIRED` for an admin.",
  access: { role: "admin" },
  body: Type.Object(
    {
      name: Type.Optional(OrganizationName),
      slug: Type.Optional(Slug),
      brand_color: Type.Optional(profile.brand_color),
      logo_url: Type.Optional(profile.logo_url),
      website_url: Type.Optional(profile.website_url),
      support_email: Type.Optional(profile.support_email),
      privacy_url: Type.Optional(profile.privacy_url),
      terms_url: Type.Optional(profile.terms_url),
      agents_may_change_webhooks: Type.Optional(agentsMayChangeWebhooks),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  reply: { status: 200, data: Organization },
  errors: ["SLUG_TAKEN"],
});

export const setActiveOrganization = route("POST /v1/auth/orgs/active", {
  id: "setActiveOrganization",
  summary: "Choose the organization to act in",
  description: "Applies to this sign-in only.",
  access: { role: "member", organization: "body", whileFrozen: "allowed" },
  body: closed({ organizationId: UuidOf<OrganizationId>() }),
  reply: { status: 200, data: Organization },
  errors: ["NOT_FOUND"],
});

const MadeByMember = open("MadeByMember", {
  active_api_keys: Type.Integer({
    minimum: 0,
    description: "API keys that they made and that are enabled, in both environments.",
  }),
  webhook_endpoints: Type.Integer({
    minimum: 0,
    description:
      "Webhook endpoints that they or their keys made, as far back as the audit log goes, and that exist.",
  }),
  webhook_keys: Type.Integer({
    minimum: 0,
    description:
      "Encryption keys that they or their keys registered, as far back as the audit log goes, and that are active.",
  }),
});

const memberFields = {
  id: UuidOf<MembershipId>(),
  user_id: UuidOf<UserId>(),
  name: Type.String({ examples: ["Ada Lovelace"] }),
  email: Email,
  role: RoleName,
  made: MadeByMember,
  created_at: Timestamp,
};

export const Member = open("Member", memberFields);

const disabledApiKeys = Type.Integer({
  minimum: 0,
  description: "How many API keys this request has disabled.",
});

const disableKeys = Type.Optional(
  Type.Boolean({
    description:
      "Disables the API keys that the member made, in both environments. By default they keep working: keys belong to the organization.",
  }),
);

const memberParams = closed({ id: UuidOf<MembershipId>() });

export const listMembers = route("GET /v1/auth/orgs/members", {
  id: "listMembers",
  summary: "List the members",
  access: { role: "member" },
  query: pageQuery(UuidOf<MembershipId>(), {}),
  reply: { status: 200, list: Member },
});

export const updateMember = route("PATCH /v1/auth/orgs/members/:id", {
  id: "updateMember",
  summary: "Change a member's role",
  description:
    "Only an owner changes an owner or makes one. The last owner stays one: 409 `LAST_OWNER`. `made` counts what the member made that is still in use. Owners get a mail if the member loses the right to make API keys and made some that are enabled.",
  access: { role: "admin" },
  params: memberParams,
  body: closed({ role: RoleName, disable_keys: disableKeys }),
  reply: {
    status: 200,
    data: open("ChangedMember", { ...memberFields, disabled_api_keys: disabledApiKeys }),
  },
  errors: ["NOT_FOUND", "LAST_OWNER"],
});

export const removeMember = route("DELETE /v1/auth/orgs/members/:id", {
  id: "removeMember",
  summary: "Remove a member",
  description:
    "Only an owner removes an owner. The last owner cannot be removed: 409 `LAST_OWNER`. `made` counts what the member made that is still in use. Owners get a mail if it includes API keys.",
  access: { role: "admin" },
  params: memberParams,
  query: closed({ disable_keys: disableKeys }),
  reply: {
    status: 200,
    data: open("RemovedMember", {
      id: UuidOf<MembershipId>(),
      user_id: UuidOf<UserId>(),
      made: MadeByMember,
      disabled_api_keys: disabledApiKeys,
    }),
  },
  errors: ["NOT_FOUND", "LAST_OWNER"],
});

export const leaveOrganization = route("POST /v1/auth/orgs/leave", {
  id: "leaveOrganization",
  summary: "Leave the active organization",
  description:
    "The last owner cannot leave: 409 `LAST_OWNER`. API keys that the caller made keep working; owners get a mail about them.",
  access: { role: "member" },
  reply: { status: 204 },
  errors: ["LAST_OWNER"],
});

export const Invitation = open("Invitation", {
  id: UuidOf<InvitationId>(),
  email: Email,
  role: RoleName,
  invited_by: Nullable(Type.String({ description: "Identifier of the user who invited." })),
  expires_at: Timestamp,
  created_at: Timestamp,
});

export const listInvitations = route("GET /v1/auth/orgs/invitations", {
  id: "listInvitations",
  summary: "List the invitations that can still be accepted",
  access: { role: "admin" },
  query: pageQuery(UuidOf<InvitationId>(), {}),
  reply: { status: 200, list: Invitation },
});

export const createInvitation = route("POST /v1/auth/orgs/invitations", {
  id: "createInvitation",
  summary: "Invite a person by e-mail",
  description:
    "Mails a link that is valid for 7 days, also for people without an account. A second invitation to the same address replaces the first. Only an owner invites an owner.",
  access: { role: "admin" },
  body: closed({ email: Email, role: RoleName }),
  reply: { status: 201, data: Invitation },
  errors: ["ALREADY_MEMBER", "CONFLICT", "INVITATION_EXISTS"],
});

export const revokeInvitation = route("DELETE /v1/auth/orgs/invitations/:id", {
  id: "revokeInvitation",
  summary: "Revoke an invitation",
  access: { role: "admin" },
  params: closed({ id: UuidOf<InvitationId>() }),
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

const tokenParams = closed({
  token: Type.String({ pattern: "^[A-Za-z0-9]{43}$", description: "The last part of the mailed link." }),
});

export const readInvitation = route("GET /v1/auth/invitations/:token", {
  id: "readInvitation",
  summary: "Show what a mailed invitation is for",
  access: { public: true },
  params: tokenParams,
  invalidParams: "NOT_FOUND",
  reply: {
    status: 200,
    data: open("InvitationSummary", {
      organization_name: Type.String(),
      role: RoleName,
      email: Email,
      expires_at: Timestamp,
    }),
  },
  errors: ["NOT_FOUND"],
});

export const acceptInvitation = route("POST /v1/auth/invitations/:token/accept", {
  id: "acceptInvitation",
  summary: "Accept an invitation",
  description: "For a user whose e-mail is the invited one; others get 403. The organization becomes active.",
  access: { user: true },
  params: tokenParams,
  invalidParams: "NOT_FOUND",
  reply: { status: 200, data: Organization },
  errors: [
    "NOT_FOUND",
    "ALREADY_MEMBER",
    "INVITATION_FOR_ANOTHER_EMAIL",
    "ORGANIZATION_FROZEN",
    "EMAIL_NOT_VERIFIED",
  ],
});

export const declineInvitation = route("POST /v1/auth/invitations/:token/decline", {
  id: "declineInvitation",
  summary: "Decline an invitation",
  description: "The holder of the link may decline without an account.",
  access: { public: true },
  params: tokenParams,
  invalidParams: "NOT_FOUND",
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const organizationRoutes = route.declared;

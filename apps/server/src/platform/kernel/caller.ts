import type { FoldedEmail } from "@assay/contract/email";
import type { Environment } from "@assay/contract/facts";
import type { ApiKeyId, OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { Access, Role, Scope } from "@assay/contract/route";

/**
 * Whose something is, where it belongs to an environment: an organization's, and of that one only what is in this environment. Whoever acts in one is
 * a tenant as well, so a caller can be handed to every store function that wants to know whose rows it may touch.
 */
export type Tenant = { organizationId: OrganizationId; environment: Environment };

/** The tables say it with a column `sandbox`. */
export function isSandbox({ environment }: Pick<Tenant, "environment">): boolean {
  return environment === "sandbox";
}

export function environmentOf({ sandbox }: { sandbox: boolean }): Environment {
  return sandbox ? "sandbox" : "live";
}

export function tenantOf(row: { organizationId: OrganizationId; sandbox: boolean }): Tenant {
  return { organizationId: row.organizationId, environment: environmentOf(row) };
}

/** A signed-in person, whether or not an organization is active. */
export type UserCaller = {
  kind: "user";
  userId: UserId;
  userSessionId: UserSessionId;
  name: string;
  email: string;
  /** Null for an account that is not found by its address: see `setEmailAside`. */
  foldedEmail: FoldedEmail | null;
  membership: Membership | null;
};

export type Membership = {
  organizationId: OrganizationId;
  role: Role;
  /** Whether the organization has gone live. Until then it has the sandbox only. */
  liveIsOpen: boolean;
  frozen: boolean;
};

/** A signed-in person who acts in an organization, on what its environments share. */
export type MemberCaller = UserCaller & {
  organizationId: OrganizationId;
  role: Role;
};

/** The same, in one of its environments. */
export type TenantMember = MemberCaller & Tenant;

/** A server of a partner. */
export type KeyCaller = {
  kind: "key";
  keyId: ApiKeyId;
  organizationId: OrganizationId;
  scopes: readonly Scope[];
  environment: Environment;
  frozen: boolean;
  /** Whether the owners let agents change where results go; what is not an agent may do it with the scope alone. */
  agentsMayChangeWebhooks: boolean;
};

/** A key that exists and is switched off: its requests are refused, and its organization sees that in the API log. */
export type DisabledKey = { kind: "disabled_key"; keyId: ApiKeyId };

/** Whoever acts for an organization in one of its environments. */
export type OrganizationCaller = TenantMember | KeyCaller;

export type Caller = UserCaller | KeyCaller;

/** What a handler knows about its caller follows from the access that its route declares. */
export type CallerOf<A extends Access> = A extends { public: true }
  ? null
  : A extends { user: true } | { operator: true }
    ? UserCaller
    : A extends { inEnvironment: true }
      ? TenantMember
      : A extends { role: Role }
        ? MemberCaller
        : OrganizationCaller;

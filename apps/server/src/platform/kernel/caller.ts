import type { FoldedEmail } from "@assay/contract/email";
import type { Environment } from "@assay/contract/facts";
import type { ApiKeyId, OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { Access, Role, Scope } from "@assay/contract/route";

/**
 * The owner of rows that belong to an environment: an organization and one of its environments. Every caller
 * who acts in one is a tenant, so it can be passed to store functions.
 */
export type Tenant = { organizationId: OrganizationId; environment: Environment };

/** Tables have a column `sandbox` for it. */
export function isSandbox({ environment }: Pick<Tenant, "environment">): boolean {
  return environment === "sandbox";
}

export function environmentOf({ sandbox }: { sandbox: boolean }): Environment {
  return sandbox ? "sandbox" : "live";
}

export function tenantOf(row: { organizationId: OrganizationId; sandbox: boolean }): Tenant {
  return { organizationId: row.organizationId, environment: environmentOf(row) };
}

/** A signed-in person, with or without an active organization. */
export type UserCaller = {
  kind: "user";
  userId: UserId;
  userSessionId: UserSessionId;
  name: string;
  email: string;
  /** Null for an account that cannot be found by its address: see `setEmailAside`. */
  foldedEmail: FoldedEmail | null;
  membership: Membership | null;
};

export type Membership = {
  organizationId: OrganizationId;
  role: Role;
  /** Whether the organization has gone live. Until then it has only the sandbox. */
  liveIsOpen: boolean;
  frozen: boolean;
};

/** A signed-in person who acts in an organization, on data that its environments share. */
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
  /** Whether the owners allow agents to change where results go. Other clients need only the scope. */
  agentsMayChangeWebhooks: boolean;
};

/** A disabled key: its requests are refused, and its organization sees them in the API log. */
export type DisabledKey = { kind: "disabled_key"; keyId: ApiKeyId };

/** A caller who acts for an organization in one of its environments. */
export type OrganizationCaller = TenantMember | KeyCaller;

export type Caller = UserCaller | KeyCaller;

/** The type of a handler's caller follows from the access that its route declares. */
export type CallerOf<A extends Access> = A extends { public: true }
  ? null
  : A extends { user: true } | { operator: true }
    ? UserCaller
    : A extends { inEnvironment: true }
      ? TenantMember
      : A extends { role: Role }
        ? MemberCaller
        : OrganizationCaller;

import type { FoldedEmail } from "@assay/contract/email";
import type { ApiKeyId, OrganizationId, UserId, UserSessionId } from "@assay/contract/ids";
import type { Access, Role, Scope } from "@assay/contract/route";

export type Environment = "sandbox" | "live";

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
  environment: Environment;
  frozen: boolean;
};

/** A signed-in person who acts in an organization. */
export type MemberCaller = UserCaller & {
  organizationId: OrganizationId;
  role: Role;
  environment: Environment;
};

/** A server of a partner. */
export type KeyCaller = {
  kind: "key";
  keyId: ApiKeyId;
  organizationId: OrganizationId;
  scopes: readonly Scope[];
  environment: Environment;
  frozen: boolean;
};

/** Whoever acts for an organization. */
export type OrganizationCaller = MemberCaller | KeyCaller;

export type Caller = UserCaller | KeyCaller;

/** What a handler knows about its caller follows from the access that its route declares. */
export type CallerOf<A extends Access> = A extends { public: true }
  ? null
  : A extends { user: true }
    ? UserCaller
    : A extends { role: Role }
      ? MemberCaller
      : OrganizationCaller;

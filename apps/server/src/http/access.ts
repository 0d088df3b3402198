import { type Access, hasRole, isWrite, type RouteDefinition, roleForScope } from "@assay/contract/route";
import { ApiError } from "../kernel/api-error.ts";
import type { Caller, Membership, OrganizationCaller, UserCaller } from "../kernel/caller.ts";

/**
 * Whether a caller may use a route: the caller as the handler gets it, or the error. Pure. For a route whose
 * organization is named in the body, `memberOf` is asked later with the membership in that one.
 */
export function admit(
  definition: Pick<RouteDefinition, "access" | "method">,
  caller: Caller | null,
): Caller | OrganizationCaller | null {
  const { access } = definition;
  if ("public" in access) return null;
  if (caller === null) throw new ApiError("UNAUTHORIZED");
  if (caller.kind === "key") {
    if (caller.frozen) throw new ApiError("ORGANIZATION_FROZEN");
    if (!("scope" in access)) {
      throw new ApiError("FORBIDDEN", {
        message: "API keys cannot use this route.",
        hint: "Sign in as a user of the organization.",
      });
    }
    if (!caller.scopes.includes(access.scope)) {
      throw new ApiError("FORBIDDEN", {
        message: `The API key lacks the scope ${access.scope}.`,
        hint: `Give the key the scope ${access.scope}, or use another key.`,
      });
    }
    return caller;
  }
  if ("user" in access) return caller;
  if ("role" in access && access.organization === "body") return caller;
  if (caller.membership === null) throw new ApiError("ORGANIZATION_REQUIRED");
  return memberOf(definition, caller, caller.membership);
}

export function memberOf(
  definition: Pick<RouteDefinition, "access" | "method">,
  caller: UserCaller,
  membership: Membership,
): OrganizationCaller {
  const needed = neededRole(definition.access);
  if (!hasRole(membership.role, needed)) {
    throw new ApiError("FORBIDDEN", {
      message: `This needs the role ${needed}; you are ${membership.role}.`,
      hint: `Ask an owner of the organization to do it or to give you the role ${needed}.`,
    });
  }
  if (membership.frozen && refusesWhileFrozen(definition)) throw new ApiError("ORGANIZATION_FROZEN");
  const { organizationId, role, environment } = membership;
  return { ...caller, membership, organizationId, role, environment };
}

function neededRole(access: Access) {
  if ("role" in access) return access.role;
  return "scope" in access ? roleForScope(access.scope) : "member";
}

function refusesWhileFrozen(definition: Pick<RouteDefinition, "access" | "method">): boolean {
  const { access } = definition;
  const stated = "whileFrozen" in access ? access.whileFrozen : undefined;
  if (stated !== undefined) return stated === "refused";
  return isWrite(definition);
}

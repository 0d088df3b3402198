import { type Environment, environmentHeader, environments } from "@assay/contract/facts";
import {
  type Access,
  hasRole,
  isInEnvironment,
  isWrite,
  preparesLive,
  type RouteDefinition,
  roleForScope,
} from "@assay/contract/route";
import { ApiError, noSuchRoute } from "../kernel/api-error.ts";
import type { Caller, MemberCaller, Membership, OrganizationCaller, UserCaller } from "../kernel/caller.ts";
import { liveIsClosed } from "../kernel/live-is-closed.ts";

/** A caller in the form that handlers get. */
export type AdmittedCaller = Caller | MemberCaller | OrganizationCaller;

/**
 * Whether a caller may use a route: returns the caller for the handler, or throws. Pure. If the body names
 * the organization, `memberOf` is called later with the membership. `asked` is the raw environment header,
 * and `isOperator` whether the user is an operator.
 */
export function admit(
  definition: Pick<RouteDefinition, "access" | "method">,
  caller: Caller | null,
  asked: string | string[] | undefined,
  isOperator = false,
): AdmittedCaller | null {
  const { access } = definition;
  if ("public" in access) return null;
  if ("operator" in access) {
    if (caller?.kind !== "user" || !isOperator) throw noSuchRoute();
    return caller;
  }
  if (caller === null) throw new ApiError("UNAUTHORIZED");
  if (caller.kind === "key") {
    if (caller.frozen) throw new ApiError("ORGANIZATION_FROZEN");
    if (!("scope" in access)) {
      throw new ApiError("API_KEY_NOT_ALLOWED");
    }
    if (!caller.scopes.includes(access.scope)) {
      throw new ApiError("FORBIDDEN", {
        message: `The API key lacks the scope ${access.scope}.`,
        hint: `Give the key the scope ${access.scope}, or use another key.`,
      });
    }
    refuseOtherEnvironment(caller.environment, asked);
    return caller;
  }
  if ("user" in access) return caller;
  if ("role" in access && access.organization === "body") return caller;
  if (caller.membership === null) throw new ApiError("ORGANIZATION_REQUIRED");
  return memberOf(definition, caller, caller.membership, asked);
}

/**
 * A key belongs to one environment. A request that names the other one was meant for another key, so it is
 * refused.
 */
function refuseOtherEnvironment(own: Environment, asked: string | string[] | undefined): void {
  if ((readEnvironment(asked) ?? own) === own) return;
  throw new ApiError("BAD_REQUEST", {
    message: `\`${environmentHeader}\` says ${readEnvironment(asked)}, and the API key belongs to ${own}.`,
    hint: "Omit the header: the key's environment decides. Or use a key of the other environment.",
  });
}

function readEnvironment(asked: string | string[] | undefined): Environment | null {
  if (asked === undefined) return null;
  const read = environments.find((each) => each === asked);
  if (read !== undefined) return read;
  throw new ApiError("BAD_REQUEST", {
    message: `The header \`${environmentHeader}\` must be one of: ${environments.join(", ")}.`,
  });
}

export function memberOf(
  definition: Pick<RouteDefinition, "access" | "method">,
  caller: UserCaller,
  membership: Membership,
  asked: string | string[] | undefined,
): MemberCaller | OrganizationCaller {
  const needed = neededRole(definition.access);
  if (!hasRole(membership.role, needed)) {
    throw new ApiError("ROLE_REQUIRED", {
      message: `This needs the role ${needed}; your role is ${membership.role}.`,
      hint: `Ask an owner of the organization to do it or to give you the role ${needed}.`,
    });
  }
  if (membership.frozen && refusesWhileFrozen(definition)) throw new ApiError("ORGANIZATION_FROZEN");
  const { organizationId, role } = membership;
  const member = { ...caller, membership, organizationId, role };
  if (!isInEnvironment(definition)) return member;
  const environment = readEnvironment(asked) ?? environments[0];
  if (environment === "live" && !membership.liveIsOpen && !preparesLive(definition)) throw liveIsClosed();
  return { ...member, environment };
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

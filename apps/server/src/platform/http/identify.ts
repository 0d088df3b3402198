import { isIP } from "node:net";
import { apiKeyForm, environmentHeader } from "@assay/contract/facts";
import type { ApiKeyId, OrganizationId, UserId } from "@assay/contract/ids";
import { type Access, isWrite, type RouteDefinition } from "@assay/contract/route";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import type {
  Caller,
  DisabledKey,
  KeyCaller,
  MemberCaller,
  Membership,
  OrganizationCaller,
  UserCaller,
} from "../kernel/caller.ts";
import { lowerCased } from "../kernel/ids.ts";
import { type AdmittedCaller, admit, memberOf } from "./access.ts";
import type { Admission } from "./admission.ts";
import { sessionTokenOf } from "./session-cookie.ts";

export type Authenticator = {
  byKey(secret: string): Promise<KeyCaller | DisabledKey | null>;
  byToken(token: string): Promise<UserCaller | null>;
  membership(organizationId: OrganizationId, userId: UserId): Promise<Membership | null>;
  isOperator(userId: UserId): Promise<boolean>;
};

export type IdentifyOptions = {
  authenticator: Authenticator;
  publicUrl: () => string;
  onKeyUsed: (keyId: ApiKeyId) => void;
  admission: Admission;
};

export function bearerOf(request: FastifyRequest): string | null {
  return /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? null;
}

export async function identify(
  request: FastifyRequest,
  reply: FastifyReply,
  definition: RouteDefinition,
  options: IdentifyOptions,
): Promise<AdmittedCaller | null> {
  if ("public" in definition.access) return null;
  const { authorization } = request.headers;
  let shown: Caller | DisabledKey | null = null;
  if (authorization !== undefined) {
    const credential = bearerOf(request);
    if (credential?.startsWith(apiKeyForm.prefix)) {
      shown = await options.authenticator.byKey(credential);
      if (shown?.kind === "key") options.onKeyUsed(shown.keyId);
    } else if (credential !== null) {
      shown = await options.authenticator.byToken(credential);
    }
  } else {
    const token = sessionTokenOf(request.headers.cookie, options.publicUrl().startsWith("https:"));
    if (token !== null) {
      shown = await options.authenticator.byToken(token);
      // After authentication: an anonymous caller gets 401 first.
      if (shown !== null && isWrite(definition)) refuseForeignOrigin(request, options.publicUrl());
    }
  }
  const caller = options.admission.recordOwner(request, shown);
  const asked = request.headers[environmentHeader.toLowerCase()];
  if ("operator" in definition.access) {
    // Checked on each request, so that a revoked operator is refused at once.
    const isOperator = caller?.kind === "user" && (await options.authenticator.isOperator(caller.userId));
    return admit(definition, caller, asked, isOperator);
  }
  if (caller === null) reply.header("www-authenticate", "Bearer");
  return admit(definition, caller, asked);
}

/** Browsers attach the cookie to cross-site requests, so only our own pages may use it to write. */
function refuseForeignOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const foreign =
    origin !== undefined
      ? !isOwnOrigin(origin, request, publicUrl)
      : site !== undefined && site !== "same-origin" && site !== "none";
  if (foreign) {
    throw new ApiError("FOREIGN_ORIGIN", {
      message: "A write with the session cookie must come from this service's own pages.",
      hint: "Call the API from a server with an API key or an access token.",
    });
  }
}

export function isOwnOrigin(origin: string, request: FastifyRequest, publicUrl: string): boolean {
  if (origin === publicUrl) return true;
  // The same machine has several loopback names, and only it can serve a page from there.
  const host = URL.parse(origin)?.hostname ?? "";
  const loopback = (name: string) =>
    name === "localhost" || name === "[::1]" || (isIP(name) === 4 && name.startsWith("127."));
  return (
    loopback(host) &&
    loopback(URL.parse(publicUrl)?.hostname ?? "") &&
    URL.parse(origin)?.host === request.headers.host
  );
}

export function namesOrganizationInBody(access: Access): boolean {
  return "role" in access && access.organization === "body";
}

export async function inNamedOrganization(
  definition: RouteDefinition,
  caller: UserCaller,
  body: unknown,
  authenticator: Authenticator,
): Promise<MemberCaller | OrganizationCaller> {
  const { organizationId } = body as { organizationId: OrganizationId };
  const membership = await authenticator.membership(lowerCased(organizationId), caller.userId);
  if (membership === null)
    throw new ApiError("NOT_FOUND", { message: "`organizationId` names no organization of yours." });
  return memberOf(definition, caller, membership, undefined);
}

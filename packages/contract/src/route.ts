import type { Static, TObject, TProperties, TSchema } from "typebox";
import type { ErrorCode } from "./errors.ts";

export const scopes = [
  "sessions:read",
  "sessions:write",
  "webhooks:read",
  "webhooks:write",
  "analytics:read",
] as const;
export type Scope = (typeof scopes)[number];

/** Each role has the rights of the roles before it. */
export const roles = ["member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/**
 * Who may call a route.
 * - `public`: everyone, without signing in.
 * - `user`: any signed-in user, with or without an organization. API keys are refused.
 * - `operator`: a signed-in user whom the operator has marked on the command line. For all others, API keys
 *   included, the route does not exist.
 * - `role`: a user with at least this role in the active organization, or, with `organization: "body"`, in the
 *   one that the body's `organizationId` names. API keys are refused. With `inEnvironment` the resource of the
 *   route belongs to an environment.
 * - `scope`: an API key with this scope, or a user of the active organization: any role reads, admin and owner
 *   write. The resource always belongs to an environment. With `beforeLive` users prepare live before it is
 *   open.
 *
 * An organization that is scheduled for deletion refuses keys always, and users on every write. `whileFrozen`
 * states the exceptions.
 */
export type Access =
  | { public: true }
  | { user: true }
  | { operator: true }
  | { role: Role; organization?: "body"; whileFrozen?: "allowed" | "refused" }
  | { role: Role; inEnvironment: true; organization?: never; whileFrozen?: never }
  | { scope: Scope; whileFrozen?: "refused"; beforeLive?: true };

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export type Reply =
  /** A body with `data`. `also` names a second status the same body may come with. */
  | { status: 200 | 201 | 202; data: TSchema; also?: 200 | 202 }
  /** A page of items with `pagination`. */
  | { status: 200; list: TSchema }
  /** Server-sent events, each of which carries this as JSON. */
  | { status: 200; events: TSchema }
  /** The bytes of a picture of one of these content types, which the caller may cache for `maxAgeSeconds`. */
  | { status: 200; picture: readonly string[]; maxAgeSeconds: number }
  | { status: 204 }
  /** The connection becomes a WebSocket; plain HTTP never succeeds here. */
  | { status: 101 };

export type RouteDefinition = {
  id: string;
  method: Method;
  path: string;
  tag: string;
  summary: string;
  description?: string;
  access: Access;
  /** A public route that is authorized by this token, sent as `Authorization: Bearer`. */
  token?: "cancel_token";
  params?: TObject;
  /** The code for a path parameter that does not fit its schema; `BAD_REQUEST` unless given. */
  invalidParams?: ErrorCode;
  query?: TObject;
  body?: TSchema;
  /** The body is not JSON but the bytes of something of one of these content types. */
  upload?: readonly string[];
  /** The body may be left out altogether, which means `{}`. */
  bodyOptional?: true;
  /** The largest body in bytes; unless given it follows from who may call, see `bodyLimitOf`. */
  maxBodyBytes?: number;
  reply: Reply;
  /** Codes of this route's own; those that follow from access, validation and idempotency are derived. */
  errors?: readonly ErrorCode[];
  /** `Idempotency-Key` is honoured. True unless stated for a POST that answers 201. */
  idempotent?: boolean;
  examples?: { body?: unknown; data?: unknown };
};

type Call = `${Method} ${string}`;
type Called = Pick<RouteDefinition, "method" | "path">;

type Declared = Omit<RouteDefinition, keyof Called | "tag">;

/**
 * Declares the routes of a tag, and keeps them in `declared` in their order. A body without a title is named
 * after its route: that of `signIn` is `SignInBody`.
 */
export function routesOf<const T extends string>(tag: T) {
  const declared: RouteDefinition[] = [];
  const declare = <const R extends Declared>(call: Call | Called, definition: R): R & Called & { tag: T } => {
    const [method, path] =
      typeof call === "string" ? (call.split(" ") as [Method, string]) : [call.method, call.path];
    const { id, body } = definition;
    const title = `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`;
    const isNamed = body === undefined || "title" in body;
    const route = { ...definition, tag, method, path, ...(isNamed ? {} : { body: { ...body, title } }) };
    declared.push(route);
    return route;
  };
  return Object.assign(declare, { declared: declared as readonly RouteDefinition[] });
}

export type BodyOf<R extends RouteDefinition> = R["body"] extends TSchema
  ? Static<R["body"]>
  : R["upload"] extends readonly string[]
    ? Uint8Array
    : undefined;
export type QueryOf<R extends RouteDefinition> =
  R["query"] extends TObject<infer P extends TProperties> ? Static<TObject<P>> : Record<string, never>;
export type ParamsOf<R extends RouteDefinition> =
  R["params"] extends TObject<infer P extends TProperties> ? Static<TObject<P>> : Record<string, never>;

/** Called once the stream is open; returns what ends the subscription. */
export type EventFeed<T> = (stream: EventStream<T>) => () => void;
/**
 * `comeBackMs`: the client reconnects after this time,
 * because the service closed the stream without an error.
 */
export type EventStream<T> = {
  send(event: string, data: T): void;
  close(comeBackMs?: number): void;
  /** Asks again whether the caller may have the stream, and closes it where not. */
  recheck(): Promise<StreamRight>;
};
/** `unknown`: the database does not answer. */
export type StreamRight = "allowed" | "refused" | "unknown";

export type Picture<T extends string = string> = { contentType: T; bytes: Uint8Array };

export type Page<T> = { items: T[]; hasMore: boolean; nextCursor: string | null };

/** A handler's result: the payload of the reply, without the envelope. */
export type DataOf<R extends RouteDefinition> = R["reply"] extends { list: infer T extends TSchema }
  ? Page<Static<T>>
  : R["reply"] extends { data: infer T extends TSchema }
    ? Static<T>
    : R["reply"] extends { events: infer T extends TSchema }
      ? EventFeed<Static<T>>
      : R["reply"] extends { picture: readonly (infer T extends string)[] }
        ? Picture<T>
        : // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a payload returns nothing.
          void;

export function isList(definition: RouteDefinition): boolean {
  return "list" in definition.reply;
}

/**
 * Whether the route's resource belongs to an environment:
 * the key's, or the one that a user names in the header.
 */
export function isInEnvironment({ access }: Pick<RouteDefinition, "access">): boolean {
  return "scope" in access || "inEnvironment" in access;
}

/** Whether users may use the route in live before live is open. */
export function preparesLive({ access }: Pick<RouteDefinition, "access">): boolean {
  return "beforeLive" in access && access.beforeLive === true;
}

/** Whether a partner's server can call it. */
export function takesApiKey({ access }: Pick<RouteDefinition, "access">): boolean {
  return "scope" in access;
}

export function isWrite(definition: Pick<RouteDefinition, "method">): boolean {
  return definition.method !== "GET";
}

export function honoursIdempotencyKey(
  definition: Pick<RouteDefinition, "method" | "reply" | "idempotent">,
): boolean {
  return definition.idempotent ?? (definition.method === "POST" && definition.reply.status === 201);
}

/** Whether null means that a field of the body is absent. In a PATCH null may clear the field instead. */
export function nullIsAbsent(definition: RouteDefinition): boolean {
  return definition.method !== "PATCH";
}

const kibibyte = 1024;

/**
 * The largest body of a route, in bytes. It is smaller for routes that need no role and no key: everyone can
 * send work there.
 */
export function bodyLimitOf({
  access,
  maxBodyBytes,
}: Pick<RouteDefinition, "access" | "maxBodyBytes">): number {
  return maxBodyBytes ?? ("scope" in access || "role" in access ? 64 : 16) * kibibyte;
}

/** The role a user needs where a key would need a scope. */
export function roleForScope(scope: Scope): Role {
  return scope.endsWith(":write") ? "admin" : "member";
}

export function hasRole(role: Role, atLeast: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(atLeast);
}

/** Whether a sender with this role may invite to `invited`. `null`: the sender is no longer a member. */
export function mayInvite(sender: Role | null, invited: Role): boolean {
  return sender !== null && hasRole(sender, invited === "owner" ? "owner" : "admin");
}

/** Every code that a route can answer with: its own, and those that follow from how it is declared. */
export function errorsOf(definition: RouteDefinition): ErrorCode[] {
  const codes = new Set<ErrorCode>(definition.errors);
  const { access } = definition;
  if ("operator" in access) codes.add("NOT_FOUND");
  else if (!("public" in access)) {
    codes.add("UNAUTHORIZED");
    codes.add("FORBIDDEN");
    if ("scope" in access || "role" in access) codes.add("ROLE_REQUIRED");
    if (!("scope" in access)) codes.add("API_KEY_NOT_ALLOWED");
    if (isWrite(definition)) codes.add("FOREIGN_ORIGIN");
    // A key of an organization that is scheduled for deletion
    // gets this code first, before the refusal of keys.
    codes.add("ORGANIZATION_FROZEN");
  }
  if ("scope" in access || ("role" in access && access.organization !== "body"))
    codes.add("ORGANIZATION_REQUIRED");
  // A user requests live before it is open.
  if (isInEnvironment(definition) && !preparesLive(definition)) codes.add("ORGANIZATION_NOT_READY");
  codes.add("BAD_REQUEST");
  if (definition.invalidParams) codes.add(definition.invalidParams);
  if (isList(definition)) codes.add("INVALID_REQUEST");
  if (Object.hasOwn(definition.query?.properties ?? {}, "created_from")) codes.add("PERIOD_INVALID");
  // The body of a write is read, and measured, before it is known to be one that the route does not take.
  if (isWrite(definition)) codes.add("PAYLOAD_TOO_LARGE");
  if (honoursIdempotencyKey(definition)) codes.add("IDEMPOTENCY_KEY_REUSED");
  codes.add("INTERNAL_SERVER_ERROR");
  codes.add("SERVICE_UNAVAILABLE");
  codes.add("REQUEST_RATE_EXCEEDED");
  return [...codes].sort();
}

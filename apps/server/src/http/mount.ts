import { isIP } from "node:net";
import { apiKeyForm } from "@assay/contract/facts";
import type {
  Access,
  BodyOf,
  DataOf,
  EventFeed,
  Page,
  ParamsOf,
  Picture,
  QueryOf,
  RouteDefinition,
} from "@assay/contract/route";
import { honoursIdempotencyKey, isList, isWrite } from "@assay/contract/route";
import fastJson from "fast-json-stringify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { admit, memberOf } from "./access.ts";
import { ApiError } from "./api-error.ts";
import type { Authenticator, Caller, CallerOf, OrganizationCaller, UserCaller } from "./caller.ts";
import { limitInEffect } from "./error-handler.ts";
import { sendEvents } from "./event-stream.ts";
import type { Idempotency } from "./idempotency.ts";
import type { SocketBinding } from "./mount-socket.ts";
import type { RenderedAnswer } from "./rendered-answer.ts";
import { type SessionCookie, sessionTokenOf } from "./session-cookie.ts";
import { convertQuery, createValidator } from "./validate.ts";

/** What a handler gets: everything is parsed, checked and typed by the route's declaration. */
export type Context<R extends RouteDefinition> = {
  caller: CallerOf<R["access"]>;
  params: ParamsOf<R>;
  query: QueryOf<R> & (R["reply"] extends { list: TSchema } ? { limit: number } : unknown);
  body: BodyOf<R>;
  request: RequestInfo;
};

export type RequestInfo = {
  id: string;
  /** The client's address as far as trusted proxies tell it. Used for limits only; never stored or logged. */
  address: string;
  userAgent: string;
  /** What came as `Authorization: Bearer`, for a public route whose proof is a token of its own. */
  bearer: string | null;
  /** Sets or clears the session cookie of the answer. */
  setSessionCookie(cookie: SessionCookie | null): void;
};

/** The second status of a reply that declares `also`. */
export class Also<T> {
  readonly data: T;
  constructor(data: T) {
    this.data = data;
  }
}

export type Handler<R extends RouteDefinition> = (
  context: Context<R>,
) => Promise<DataOf<R> | Also<DataOf<R>>>;

export type Binding = {
  definition: RouteDefinition;
  handle: (context: Context<RouteDefinition>) => Promise<unknown>;
  /**
   * Runs before `Idempotency-Key` is looked at and outside of its transaction: what it writes stays when the request
   * fails, so that a limit counts failures too.
   */
  guard?: (context: Context<RouteDefinition>) => Promise<void>;
};

/** Ties a route of the contract to the code that carries it out. */
export function bind<const R extends RouteDefinition>(
  definition: R,
  handle: Handler<R>,
  guard?: (context: Context<R>) => Promise<void>,
): Binding {
  return {
    definition,
    handle: handle as unknown as Binding["handle"],
    ...(guard ? { guard: guard as unknown as NonNullable<Binding["guard"]> } : {}),
  };
}

type MountOptions = {
  authenticator: Authenticator;
  idempotency: Idempotency;
  publicUrl: () => string;
  onKeyUsed: (keyId: string) => void;
  writeCookie: (reply: FastifyReply, cookie: SessionCookie | null) => void;
  /** By the id of a route: what takes over when a request asks to upgrade. The route's handler answers all others. */
  sockets?: Readonly<Record<string, SocketBinding>>;
};

const callers = new WeakMap<FastifyRequest, Caller | OrganizationCaller | null>();

export function mount(app: FastifyInstance, bindings: readonly Binding[], options: MountOptions): void {
  for (const binding of bindings) mountRoute(app, binding, options);
}

function mountRoute(
  app: FastifyInstance,
  { definition, handle, guard }: Binding,
  options: MountOptions,
): void {
  const checkParams = definition.params
    ? createValidator(definition.params, "path", definition.invalidParams)
    : null;
  const query = definition.query ?? null;
  const checkQuery = query ? createValidator(query, "query") : null;
  const checkBody = definition.body ? createValidator(definition.body, "body") : null;
  const serialize = lazySerializer(definition);
  const socket = options.sockets?.[definition.id];

  app.route({
    method: definition.method,
    url: definition.path,
    config: { definition },
    ...(socket === undefined
      ? {}
      : {
          // Refused with the envelope while it is still HTTP.
          preValidation: async (request: FastifyRequest) => {
            if (!request.ws) return;
            if (checkParams) checkParams(request.params);
            refuseAnyQuery(request.query);
            socket.admit(request);
          },
          wsHandler: socket.open,
        }),
    // Before the body is read: a caller who may not do this does not get to send us a megabyte.
    onRequest: async (request, reply) => {
      callers.set(request, await identify(request, reply, definition, options));
    },
    handler: async (request, reply) => {
      let caller = callers.get(request) ?? null;
      const params = checkParams ? checkParams(request.params) : {};
      const parsedQuery =
        checkQuery && query
          ? (checkQuery(convertQuery(request.query as Record<string, unknown>, query)) as Record<
              string,
              unknown
            >)
          : refuseAnyQuery(request.query);
      if (isList(definition)) parsedQuery.limit = limitInEffect(parsedQuery);
      const body = checkBody
        ? checkBody(request.body ?? (definition.bodyOptional ? {} : undefined))
        : refuseAnyBody(request.body);
      if (names(definition.access) && caller?.kind === "user") {
        caller = await inNamedOrganization(definition, caller, body, options.authenticator);
      }
      const context = {
        caller,
        params,
        query: parsedQuery,
        body,
        request: {
          id: request.id,
          address: request.ip,
          userAgent: (request.headers["user-agent"] ?? "").slice(0, 300),
          bearer: bearerOf(request),
          setSessionCookie: (cookie: SessionCookie | null) => options.writeCookie(reply, cookie),
        },
      } as unknown as Context<RouteDefinition>;
      const run = () => handle(context);
      if (guard) await guard(context);
      if ("events" in definition.reply) return sendEvents(reply, (await run()) as EventFeed<unknown>);
      if ("picture" in definition.reply) {
        const { contentType, bytes } = (await run()) as Picture;
        return reply
          .header("content-type", contentType)
          .header("cache-control", `private, max-age=${definition.reply.maxAgeSeconds}`)
          .send(bytes);
      }
      const render = (result: unknown) => serialize(result, parsedQuery);

      const key = request.headers["idempotency-key"];
      const answer =
        key !== undefined && honoursIdempotencyKey(definition)
          ? await options.idempotency.once({ key, definition, caller, path: request.url, body }, async () =>
              render(await run()),
            )
          : { ...render(await run()), replayed: false };
      if (answer.replayed) reply.header("idempotent-replayed", "true");
      reply.code(answer.status);
      if (answer.text === null) return reply.send();
      return reply.header("content-type", "application/json; charset=utf-8").send(answer.text);
    },
  });
}

function bearerOf(request: FastifyRequest): string | null {
  return /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? null;
}

async function identify(
  request: FastifyRequest,
  reply: FastifyReply,
  definition: RouteDefinition,
  options: MountOptions,
): Promise<Caller | OrganizationCaller | null> {
  if ("public" in definition.access) return null;
  const { authorization } = request.headers;
  let caller: Caller | null = null;
  if (authorization !== undefined) {
    const credential = bearerOf(request);
    if (credential?.startsWith(apiKeyForm.prefix)) {
      caller = await options.authenticator.byKey(credential);
      if (caller?.kind === "key") options.onKeyUsed(caller.keyId);
    } else if (credential !== null) {
      caller = await options.authenticator.byToken(credential);
    }
  } else {
    const token = sessionTokenOf(request.headers.cookie, options.publicUrl().startsWith("https:"));
    if (token !== null) {
      if (isWrite(definition)) refuseForeignOrigin(request, options.publicUrl());
      caller = await options.authenticator.byToken(token);
    }
  }
  if (caller === null) reply.header("www-authenticate", "Bearer");
  return admit(definition, caller);
}

/** A browser attaches the cookie to requests that other sites cause; only our own pages may use it to write. */
function refuseForeignOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const foreign =
    origin !== undefined
      ? !isOwnOrigin(origin, request, publicUrl)
      : site !== undefined && site !== "same-origin" && site !== "none";
  if (foreign) {
    throw new ApiError("FORBIDDEN", {
      message: "A write with the session cookie must come from this service's own pages.",
      hint: "Call the API from a server with an API key or an access token.",
    });
  }
}

export function isOwnOrigin(origin: string, request: FastifyRequest, publicUrl: string): boolean {
  if (origin === publicUrl) return true;
  // On a loopback address the same machine is known by several names; nobody else can serve a page from there.
  const host = URL.parse(origin)?.hostname ?? "";
  const loopback = (name: string) =>
    name === "localhost" || name === "[::1]" || (isIP(name) === 4 && name.startsWith("127."));
  return (
    loopback(host) &&
    loopback(URL.parse(publicUrl)?.hostname ?? "") &&
    URL.parse(origin)?.host === request.headers.host
  );
}

function names(access: Access): boolean {
  return "role" in access && access.organization === "body";
}

async function inNamedOrganization(
  definition: RouteDefinition,
  caller: UserCaller,
  body: unknown,
  authenticator: Authenticator,
): Promise<OrganizationCaller> {
  const { organizationId } = body as { organizationId: string };
  const membership = await authenticator.membership(caller.userId, organizationId.toLowerCase());
  if (membership === null)
    throw new ApiError("NOT_FOUND", { message: "`organizationId` names no organization of yours." });
  return memberOf(definition, caller, membership);
}

function refuseAnyQuery(query: unknown): Record<string, unknown> {
  const [name] = Object.keys(query as object);
  if (name !== undefined)
    throw new ApiError("BAD_REQUEST", {
      message: `\`${name.slice(0, 80)}\` is not a parameter of this route.`,
    });
  return {};
}

/** A route without a body takes none, or an empty object: many clients always send one. */
function refuseAnyBody(body: unknown): undefined {
  if (body === undefined || body === null) return undefined;
  const [name] = typeof body === "object" ? Object.keys(body) : ["body"];
  if (name !== undefined)
    throw new ApiError("BAD_REQUEST", {
      message: `\`${name.slice(0, 80)}\` is not a field of this request.`,
    });
  return undefined;
}

/** Writes replies by their schema: a field that the contract does not declare never leaves. Built on first use. */
function lazySerializer(
  definition: RouteDefinition,
): (result: unknown, query: Record<string, unknown>) => RenderedAnswer {
  const { reply } = definition;
  if (!("data" in reply) && !("list" in reply)) return () => ({ status: reply.status, text: null });
  let write: ((value: unknown) => string) | null = null;
  const writer = (schema: TSchema | { type: string; items: TSchema }) => {
    write ??= fastJson(schema as never) as (value: unknown) => string;
    return write;
  };
  if ("list" in reply) {
    return (result, query) => {
      const { items, hasMore, nextCursor } = result as Page<unknown>;
      const data = writer({ type: "array", items: reply.list })(items);
      const pagination = JSON.stringify({
        limit: query.limit,
        has_more: hasMore,
        next_cursor: hasMore ? nextCursor : null,
      });
      return { status: reply.status, text: `{"data":${data},"error":null,"pagination":${pagination}}` };
    };
  }
  return (result) => {
    const also = result instanceof Also;
    const data = writer(reply.data)(also ? result.data : result);
    return {
      status: also ? (reply.also ?? reply.status) : reply.status,
      text: `{"data":${data},"error":null}`,
    };
  };
}

import { type Deprecations, deprecationHeaders, deprecations } from "@assay/contract/deprecations";
import { mailLanguages } from "@assay/contract/facts";
import {
  type BodyOf,
  bodyLimitOf,
  type DataOf,
  type EventFeed,
  honoursIdempotencyKey,
  isList,
  nullIsAbsent,
  type Page,
  type ParamsOf,
  type Picture,
  type QueryOf,
  type RouteDefinition,
} from "@assay/contract/route";
import fastJson from "fast-json-stringify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { ApiError } from "../kernel/api-error.ts";
import type { CallerOf } from "../kernel/caller.ts";
import { refuseBrokenText } from "../kernel/check-text.ts";
import type { CookieNames, RequestInfo, SessionCookie } from "../kernel/request-info.ts";
import { convertQuery, createValidator } from "../kernel/validate.ts";
import { acceptedLanguage } from "./accept.ts";
import type { AdmittedCaller } from "./access.ts";
import { limitInEffect, wrongBody } from "./error-handler.ts";
import { sendEvents } from "./event-stream.ts";
import type { Idempotency, RenderedAnswer } from "./idempotency.ts";
import {
  bearerOf,
  type IdentifyOptions,
  identify,
  inNamedOrganization,
  namesOrganizationInBody,
} from "./identify.ts";
import { refuseBadHandshake, type SocketBinding } from "./mount-socket.ts";
import { cookieOf, writeCookie, writeSessionCookie } from "./session-cookie.ts";

/** The input of a handler, parsed, validated and typed by the route's declaration. */
type Context<R extends RouteDefinition> = {
  caller: CallerOf<R["access"]>;
  params: ParamsOf<R>;
  query: QueryOf<R> & (R["reply"] extends { list: TSchema } ? { limit: number } : unknown);
  body: BodyOf<R>;
  request: RequestInfo;
};

/** The second status of a reply that declares `also`. */
export class AlternateStatus<T> {
  readonly data: T;
  constructor(data: T) {
    this.data = data;
  }
}

type Handler<R extends RouteDefinition, P> = (
  context: Context<R>,
  prepared: P,
) => Promise<DataOf<R> | AlternateStatus<DataOf<R>>>;

/** Steps before the handler, in this order. */
type Steps<C, P> = {
  /**
   * Runs before `Idempotency-Key` is checked and outside of its transaction. Its writes stay if the request
   * fails, so that a limit counts failures, too.
   */
  guard?: (context: C) => Promise<void>;
  /**
   * Also runs outside of that transaction, and not for a replayed answer. For slow work and calls to other
   * services: the transaction holds a database connection. The handler gets the result.
   */
  prepare?: (context: C) => Promise<P>;
};

export type Binding = Steps<Context<RouteDefinition>, unknown> & {
  definition: RouteDefinition;
  handle: (context: Context<RouteDefinition>, prepared: unknown) => Promise<unknown>;
};

/** Binds a route of the contract to its handler and the steps before it. */
export function bind<const R extends RouteDefinition>(definition: R, handle: Handler<R, undefined>): Binding;
export function bind<const R extends RouteDefinition, P = undefined>(
  definition: R,
  steps: Steps<Context<R>, P>,
  handle: Handler<R, P>,
): Binding;
export function bind(definition: RouteDefinition, ...given: readonly unknown[]): Binding {
  const handle = given.at(-1);
  const steps = given.length > 1 ? given[0] : {};
  return { definition, handle, ...(steps as object) } as Binding;
}

type MountOptions = IdentifyOptions & {
  idempotency: Idempotency;
  /**
   * Handlers of upgrade requests, by the id of the route. Other requests are answered by the route's handler.
   */
  sockets?: Readonly<Record<string, SocketBinding>>;
  /** Default: those of the contract. */
  deprecations?: Deprecations;
};

/** Stored on the request: the garbage collector scans each entry of a WeakMap while the process is paused. */
const identified = Symbol("identified");
type Identified = FastifyRequest & { [identified]?: AdmittedCaller | null };

export function mount(app: FastifyInstance, bindings: readonly Binding[], options: MountOptions): void {
  for (const binding of bindings) mountRoute(app, binding, options);
}

function mountRoute(
  app: FastifyInstance,
  { definition, handle, guard, prepare }: Binding,
  options: MountOptions,
): void {
  const checkParams = definition.params
    ? createValidator(definition.params, "path", { code: definition.invalidParams ?? "BAD_REQUEST" })
    : null;
  const query = definition.query ?? null;
  const checkQuery = query ? createValidator(query, "query") : null;
  const checkBody = definition.body
    ? createValidator(definition.body, "body", { nullIsAbsent: nullIsAbsent(definition) })
    : null;
  const serialize = lazySerializer(definition);
  const socket = options.sockets?.[definition.id];

  app.route({
    method: definition.method,
    url: definition.path,
    config: { definition },
    bodyLimit: bodyLimitOf(definition),
    ...(socket === undefined
      ? {}
      : {
          // Refused with the envelope while the connection still speaks HTTP.
          preValidation: async (request: FastifyRequest, reply: FastifyReply) => {
            if (!request.ws) return;
            refuseBrokenAddress(request, definition);
            if (checkParams) checkParams(request.params);
            refuseAnyQuery(request.query);
            refuseBadHandshake(request);
            await new Promise<void>((resolve, reject) =>
              options.admission.admit(request, reply, (refusal) => (refusal ? reject(refusal) : resolve())),
            );
            // A socket stays open for long, so it releases its slot.
            options.admission.releaseSlot(request);
            socket.admit(request);
          },
          wsHandler: socket.open,
        }),
    // Before the body is parsed: it does not matter for a caller without access.
    onRequest: async (request: Identified, reply) => {
      warnOfDeprecation(reply, definition, options);
      request[identified] = await identify(request, reply, definition, options);
    },
    handler: async (request: Identified, reply) => {
      let caller = request[identified] ?? null;
      refuseBrokenAddress(request, definition);
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
        : definition.upload === undefined
          ? refuseAnyBody(request.body)
          : uploadedBytes(request.body, definition);
      if (namesOrganizationInBody(definition.access) && caller?.kind === "user") {
        caller = await inNamedOrganization(definition, caller, body, options.authenticator);
      }
      const context = {
        caller,
        params,
        query: parsedQuery,
        body,
        request: new Info(request, reply, options.publicUrl()),
      } as unknown as Context<RouteDefinition>;
      const run = async () => handle(context, await prepare?.(context));
      if (guard) await guard(context);
      if ("events" in definition.reply) {
        const recheck = recheckOf(request, reply, definition, options);
        return sendEvents(reply, (await run()) as EventFeed<unknown>, recheck);
      }
      if ("picture" in definition.reply)
        return sendPicture(reply, (await run()) as Picture, definition.reply.maxAgeSeconds);
      const render = (result: unknown) => serialize(result, parsedQuery);

      const key = request.headers["idempotency-key"];
      const answer =
        key !== undefined && honoursIdempotencyKey(definition)
          ? await options.idempotency.once(
              { key, definition, caller, path: withoutLastSlash(request.url), body },
              {
                prepare: prepare === undefined ? null : () => prepare(context),
                answer: async (prepared) => render(await handle(context, prepared)),
              },
            )
          : { ...render(await run()), replayed: false, expiresAt: null };
      if (answer.replayed) reply.header("idempotent-replayed", "true");
      if (answer.expiresAt !== null) reply.header("idempotency-expires-at", answer.expiresAt.toISOString());
      reply.code(answer.status);
      if (answer.text === null) return reply.send();
      reply.header("content-type", "application/json; charset=utf-8");
      // The text, not the reply: the framework would wait until the reply is sent.
      return answer.text;
    },
  });
}

/** Set before authentication, so that refusals have the header, too. */
function warnOfDeprecation(reply: FastifyReply, { id }: RouteDefinition, options: MountOptions): void {
  const deprecation = (options.deprecations ?? deprecations)[id];
  if (deprecation !== undefined) reply.headers(deprecationHeaders(deprecation));
}

function refuseBrokenAddress({ params, query }: FastifyRequest, { invalidParams }: RouteDefinition): void {
  refuseBrokenText(params, "path", invalidParams);
  refuseBrokenText(query, "query");
}

/** Few routes need any of this, so each value is computed on demand. */
class Info implements RequestInfo {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #publicUrl: string;

  constructor(request: FastifyRequest, reply: FastifyReply, publicUrl: string) {
    this.#request = request;
    this.#reply = reply;
    this.#publicUrl = publicUrl;
  }

  get address() {
    return this.#request.ip;
  }

  get userAgent() {
    return (this.#request.headers["user-agent"] ?? "").slice(0, 300);
  }

  get language() {
    return acceptedLanguage(this.#request.headers["accept-language"], mailLanguages);
  }

  get bearer() {
    return bearerOf(this.#request);
  }

  setSessionCookie(cookie: SessionCookie | null): void {
    writeSessionCookie(this.#reply, cookie, this.#isSecure);
  }

  cookie(names: CookieNames): string | null {
    return cookieOf(this.#request.headers.cookie, names, this.#isSecure);
  }

  setCookie(names: CookieNames, cookie: SessionCookie): void {
    writeCookie(this.#reply, names, cookie, this.#isSecure);
  }

  get #isSecure(): boolean {
    return this.#publicUrl.startsWith("https:");
  }
}

/** Rechecks the access of the caller, for an answer that lasts long. Null if the route is public. */
function recheckOf(
  request: FastifyRequest,
  reply: FastifyReply,
  definition: RouteDefinition,
  options: MountOptions,
): (() => Promise<unknown>) | null {
  // A recheck is not a request of the caller, so it does not count as a use of the key.
  const uncounted = { ...options, onKeyUsed: () => {} };
  return "public" in definition.access ? null : () => identify(request, reply, definition, uncounted);
}

function sendPicture(
  reply: FastifyReply,
  { contentType, bytes }: Picture,
  maxAgeSeconds: number,
): FastifyReply {
  return reply
    .header("content-type", contentType)
    .header("cache-control", `private, max-age=${maxAgeSeconds}`)
    .send(bytes);
}

/** Both forms are the same route, so a retry with an `Idempotency-Key` may use the other one. */
function withoutLastSlash(url: string): string {
  return url.replace(/\/(?=$|\?)/, "");
}

function refuseAnyQuery(query: unknown): Record<string, unknown> {
  const [name] = Object.keys(query as object);
  if (name !== undefined)
    throw new ApiError("BAD_REQUEST", {
      message: `\`${name.slice(0, 80)}\` is not a parameter of this route.`,
    });
  return {};
}

/** A route without a body accepts none or an empty object: many clients always send one. */
function refuseAnyBody(body: unknown): undefined {
  if (body === undefined || body === null) return undefined;
  const [name] = typeof body === "object" ? Object.keys(body) : ["body"];
  if (name !== undefined)
    throw new ApiError("BAD_REQUEST", {
      message: `\`${name.slice(0, 80)}\` is not a field of this request.`,
    });
  return undefined;
}

function uploadedBytes(body: unknown, definition: RouteDefinition): Buffer {
  if (Buffer.isBuffer(body)) return body;
  throw new ApiError("BAD_REQUEST", wrongBody(definition));
}

/**
 * The same schema with "this or null" written as `nullable`. For alternatives the library runs a validator on
 * each value, which takes longer than writing the rest.
 */
function plainlyNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainlyNullable);
  if (typeof schema !== "object" || schema === null) return schema;
  const { anyOf, ...rest } = schema as { anyOf?: readonly { type?: unknown }[] };
  // Replies are not validated, and the serializer's library cannot parse every pattern. A field may be named
  // `pattern`, too.
  const written = Object.entries(rest).filter(
    ([name, part]) => name !== "pattern" || typeof part !== "string",
  );
  const own = Object.fromEntries(written.map(([name, part]) => [name, plainlyNullable(part)]));
  if (anyOf === undefined) return own;
  const choices = anyOf
    .filter(({ type }) => type !== "null")
    .map((choice) => plainlyNullable(choice) as Written);
  const nullable = choices.length < anyOf.length;
  const [one] = choices;
  if (choices.length === 1 && typeof one?.type === "string") return { ...own, ...one, nullable };
  return choices.every(({ type }) => type === "object")
    ? { ...own, ...unitedObject(choices), nullable }
    : { ...own, anyOf: plainlyNullable(anyOf) };
}

type Written = { type?: unknown; properties?: object; required?: readonly string[] };

/** One object with the fields of all alternatives, so that the serializer need not choose one. */
function unitedObject(choices: readonly Written[]): object {
  const [first, ...others] = choices;
  return {
    type: "object",
    properties: Object.assign({}, ...choices.map(({ properties }) => properties)),
    required: first?.required?.filter((name) => others.every(({ required }) => required?.includes(name))),
  };
}

/** By reply: services in one process share those of the contract. */
const writers = new WeakMap<object, (value: unknown) => string>();

/** Writes replies by their schema, so that undeclared fields never leave. Compiled on first use. */
function lazySerializer(
  definition: RouteDefinition,
): (result: unknown, query: Record<string, unknown>) => RenderedAnswer {
  const { reply } = definition;
  if (!("data" in reply) && !("list" in reply)) return () => ({ status: reply.status, text: null });
  const writer = (schema: TSchema | { type: string; items: TSchema }) => {
    const write =
      writers.get(reply) ?? (fastJson(plainlyNullable(schema) as never) as (value: unknown) => string);
    writers.set(reply, write);
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
    const also = result instanceof AlternateStatus;
    const data = writer(reply.data)(also ? result.data : result);
    return {
      status: also ? (reply.also ?? reply.status) : reply.status,
      text: `{"data":${data},"error":null}`,
    };
  };
}

import type { Static, TSchema } from "typebox";
import { type Environment, environmentHeader } from "./facts.ts";
import type { WithPlainIds } from "./ids.ts";
import { type BodyOf, isInEnvironment, type ParamsOf, type QueryOf, type RouteDefinition } from "./route.ts";

export type Pagination = { limit: number; has_more: boolean; next_cursor: string | null };

/** What a call resolves with: the payload, and for lists where the next page begins. */
export type Result<R extends RouteDefinition> = R["reply"] extends { list: infer T extends TSchema }
  ? { data: Static<T>[]; pagination: Pagination }
  : R["reply"] extends { data: infer T extends TSchema }
    ? { data: Static<T> }
    : { data: null };

type Part<Name extends string, T> = T extends undefined
  ? unknown
  : Record<string, never> extends T
    ? { [K in Name]?: T }
    : { [K in Name]: T };

/** What a route takes, by its declaration: only the parts it has, required where they are. */
export type Input<R extends RouteDefinition> = Part<
  "params",
  R["params"] extends undefined ? undefined : WithPlainIds<ParamsOf<R>>
> &
  Part<"query", R["query"] extends undefined ? undefined : Partial<WithPlainIds<QueryOf<R>>>> &
  Part<"body", WithPlainIds<BodyOf<R>>> & { idempotencyKey?: string; signal?: AbortSignal };

/** A failure that the service answered with. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly docs: string;
  readonly requestId: string | null;

  constructor(
    status: number,
    error: { code: string; message: string; hint: string; docs: string },
    requestId: string | null,
  ) {
    super(error.message);
    this.name = "CallError";
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.docs = error.docs;
    this.requestId = requestId;
  }
}

/** There was no answer within the time that the caller waits for one. */
export class NoAnswerError extends Error {
  constructor() {
    super("The service did not answer in time.");
    this.name = "NoAnswerError";
  }
}

type FetchLike = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string | Uint8Array<ArrayBuffer>;
    credentials: "same-origin";
    signal?: AbortSignal;
  },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;

/**
 * Calls routes of the contract, typed by their declarations: `call(createApiKey, { body: { name, scopes }
 * })`. Without a token the browser's session cookie authenticates the user. A call without a complete answer
 * within `timeLimitMs` rejects with `NoAnswerError`. `readText` converts every text in an answer.
 * `environment` applies to users on routes that have environments; an API key always has its environment.
 */
export function createClient(options: {
  baseUrl: string;
  token?: string;
  fetch: FetchLike;
  timeLimitMs?: number;
  readText?: (text: string) => string;
  environment?: () => Environment;
}) {
  const { readText } = options;
  const reviver =
    readText && ((_: string, value: unknown) => (typeof value === "string" ? readText(value) : value));
  return async function call<const R extends RouteDefinition>(route: R, input: Input<R>): Promise<Result<R>> {
    const parts = input as {
      params?: Record<string, string>;
      query?: Record<string, unknown>;
      body?: unknown;
      idempotencyKey?: string;
      signal?: AbortSignal;
    };
    const path = route.path.replace(/:([a-z_]+)/g, (_, name: string) =>
      encodeURIComponent(parts.params?.[name] ?? ""),
    );
    const query = Object.entries(parts.query ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
      .join("&");
    const headers: Record<string, string> = { accept: "application/json" };
    if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`;
    // The service looks at the bytes, whatever they are called.
    const contentType = route.upload?.[0] ?? "application/json";
    if (parts.body !== undefined) headers["content-type"] = contentType;
    if (options.environment !== undefined && isInEnvironment(route))
      headers[environmentHeader.toLowerCase()] = options.environment();
    if (parts.idempotencyKey !== undefined) headers["idempotency-key"] = parts.idempotencyKey;
    const url = `${options.baseUrl}${path}${query === "" ? "" : `?${query}`}`;
    return await withTimeLimit(options.timeLimitMs, parts.signal, async (signal) => {
      const response = await options.fetch(url, {
        method: route.method,
        headers,
        credentials: "same-origin",
        ...(parts.body === undefined ? {} : { body: bodyOf(route, parts.body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      const envelope = text === "" ? { data: null, error: null } : JSON.parse(text, reviver);
      if (envelope.error)
        throw new CallError(response.status, envelope.error, response.headers.get("x-request-id"));
      return envelope as Result<R>;
    });
  };
}

function bodyOf(route: RouteDefinition, body: unknown): string | Uint8Array<ArrayBuffer> {
  return route.upload === undefined ? JSON.stringify(body) : new Uint8Array(body as Uint8Array);
}

/** `AbortSignal.any` would say it in one line, and is missing in phones of three years ago. */
async function withTimeLimit<T>(
  limitMs: number | undefined,
  given: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return await work(given);
  const controller = new AbortController();
  const abort = () => controller.abort();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    abort();
  }, limitMs);
  given?.addEventListener("abort", abort);
  if (given?.aborted === true) abort();
  try {
    return await work(controller.signal);
  } catch (error) {
    throw late ? new NoAnswerError() : error;
  } finally {
    clearTimeout(timer);
    given?.removeEventListener("abort", abort);
  }
}

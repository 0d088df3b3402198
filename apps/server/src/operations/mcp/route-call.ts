import { idempotencyArgument, withheldFields } from "@assay/contract/agent-tools";
import type { Method, RouteDefinition } from "@assay/contract/route";
import { honoursIdempotencyKey } from "@assay/contract/route";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import { createValidator } from "../../platform/kernel/validate.ts";

/** A request to a route of this service. */
export type RouteCall = {
  method: Method;
  url: string;
  body: unknown;
  idempotencyKey: string | null;
};

type Arguments = Readonly<Record<string, unknown>>;

/**
 * No route takes input that is nested nearly as deep. Deeper input could overflow the stack when it is
 * serialized.
 */
const maxDepth = 32;

/**
 * Splits the arguments of a tool into the request of its route. Unknown arguments stay in the request, so
 * that the route refuses them with its own message.
 */
export function createRouteCall(route: RouteDefinition): (given: Arguments) => RouteCall {
  const { params, query } = route;
  // Checked here as well, because they become part of the path, which selects the route.
  const checkParams = params
    ? createValidator(params, "path", { code: route.invalidParams ?? "BAD_REQUEST" })
    : null;
  const namesOf = (part: typeof params) => new Set(Object.keys(part?.properties ?? {}));
  const [inPath, inQuery] = [namesOf(params), namesOf(query)];
  return (given) => {
    refuseDeep(given);
    const parts: Record<"path" | "query" | "body", Record<string, unknown>> = {
      path: {},
      query: {},
      body: {},
    };
    let idempotencyKey: string | null = null;
    for (const [name, value] of Object.entries(given)) {
      if (name === idempotencyArgument && honoursIdempotencyKey(route)) {
        if (value !== null && typeof value !== "string") throw badField(name, "must be a text");
        idempotencyKey = value;
      } else if (inPath.has(name)) parts.path[name] = value;
      else if (inQuery.has(name) || (route.body === undefined && query !== undefined))
        parts.query[name] = value;
      else parts.body[name] = value;
    }
    checkParams?.(parts.path);
    const path = route.path.replace(/:([a-z_]+)/g, (_, name: string) =>
      encodeURIComponent(String(parts.path[name])),
    );
    // `.` and `..` would lead to another route.
    if (new URL(path, "http://localhost").pathname !== path) throw new ApiError("NOT_FOUND");
    const text = queryText(parts.query);
    const takesBody = route.body !== undefined || Object.keys(parts.body).length > 0;
    return {
      method: route.method,
      url: text === "" ? path : `${path}?${text}`,
      body: takesBody ? parts.body : undefined,
      idempotencyKey,
    };
  };
}

function queryText(query: Arguments): string {
  const entries = Object.entries(query).filter(([, value]) => value !== null);
  for (const [name, value] of entries)
    if (typeof value === "object") throw badField(name.slice(0, 80), "must not be an object or a list");
  return new URLSearchParams(
    Object.fromEntries(entries.map(([name, value]) => [name, String(value)])),
  ).toString();
}

function refuseDeep(given: Arguments): void {
  let level: unknown[] = [given];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth)
      throw new ApiError("BAD_REQUEST", { message: "The arguments are nested too deeply." });
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
}

/** The answer of a route without the parts that tools leave out; null without content. */
export function readRouteAnswer(
  text: string,
): { data: unknown; error: unknown; pagination?: unknown } | null {
  if (text === "") return null;
  return JSON.parse(text, (name, value) => (Object.hasOwn(withheldFields, name) ? undefined : value));
}

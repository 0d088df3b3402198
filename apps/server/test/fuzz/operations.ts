import { Compile } from "typebox/compile";

/** The part of JSON Schema that the document uses. */
export type Schema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  propertyNames?: Schema;
  minProperties?: number;
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  examples?: unknown[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
};

export type Parameter = { name: string; in: "path" | "query" | "header"; required: boolean; schema: Schema };

/** What the document says about one status of an operation. */
export type Documented = {
  /** Null if the status has no body. */
  types: ReadonlyMap<string, { schema: Schema; fits: (value: unknown) => boolean }> | null;
  /** The error codes that come with it; empty for a success. */
  codes: ReadonlySet<string>;
};

export type Operation = {
  id: string;
  method: string;
  /** With `{name}` for each parameter. */
  path: string;
  pattern: RegExp;
  parameters: readonly Parameter[];
  body: Schema | null;
  bodyRequired: boolean;
  answers: ReadonlyMap<number, Documented>;
  /** Names of the security schemes; empty for a public operation. */
  security: readonly string[];
};

type Json = { [name: string]: any };

/** The operations of an OpenAPI document, with every reference replaced by what it refers to. */
export function readOperations(document: Json): Operation[] {
  const resolve = (value: any): any => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    if (typeof value.$ref === "string")
      return resolve(
        value.$ref
          .slice(2)
          .split("/")
          .reduce((at: Json, name: string) => at[name], document),
      );
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, resolve(entry)]));
  };
  return Object.entries(document.paths as Json).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, described]): Operation => {
      const operation = resolve(described);
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        pattern: patternOf(path),
        parameters: operation.parameters ?? [],
        body: operation.requestBody?.content["application/json"]?.schema ?? null,
        bodyRequired: operation.requestBody?.required === true,
        answers: new Map(
          // A specific status overrides a range, so ranges come first.
          Object.entries(operation.responses as Json)
            .sort(([one], [other]) => Number(isRange(other)) - Number(isRange(one)))
            .flatMap(([status, answer]) =>
              statusesOf(status).map((known) => [known, documented(answer)] as const),
            ),
        ),
        security: operation.security.flatMap((way: Json) => Object.keys(way)),
      };
    }),
  );
}

/** As the service reads a path: parameters between slashes may be empty, a trailing slash is ignored. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}(?=\/)/g, "[^/]*").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`);
}

const isRange = (status: string): boolean => status.endsWith("XX");

/** The service has two statuses for faults, which the document describes together. */
function statusesOf(status: string): number[] {
  return status === "5XX" ? [500, 503] : [Number(status)];
}

function documented(answer: Json): Documented {
  if (answer.content === undefined) return { types: null, codes: new Set() };
  const types = Object.entries(answer.content as Json).map(([type, { schema }]) => {
    const validator = Compile(schema);
    return [type, { schema, fits: (value: unknown) => validator.Check(value) }] as const;
  });
  const examples = answer.content["application/json"]?.examples ?? {};
  return { types: new Map(types), codes: new Set(Object.keys(examples)) };
}

/** The operation that a request is for, by the document; `HEAD` is answered as `GET`. */
export function operationAt(
  operations: readonly Operation[],
  method: string,
  target: string,
): Operation | null {
  const path = pathOf(target);
  const asked = method === "HEAD" ? "GET" : method;
  const found = operations.filter((operation) => operation.method === asked && operation.pattern.test(path));
  // A literal in one path may be a parameter of another.
  return found.sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0] ?? null;
}

export function isKnownPath(operations: readonly Operation[], target: string): boolean {
  return operations.some(({ pattern }) => pattern.test(pathOf(target)));
}

/** A client does not send what follows `#`; a server that gets it takes it for a query. */
function pathOf(target: string): string {
  return target.split(/[?#]/)[0] ?? "";
}

/** The path of a field that the value has and its schema does not; null if there is none. */
export function findUndeclared(schema: Schema, value: unknown, path = ""): string | null {
  if (Array.isArray(value)) {
    for (const entry of value) {
      const found = schema.items === undefined ? null : findUndeclared(schema.items, entry, `${path}[]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  if (schema.anyOf !== undefined) {
    const found = schema.anyOf.map((choice) => findUndeclared(choice, value, path));
    return found.includes(null) ? null : (found[0] ?? null);
  }
  const saysNothing = schema.properties === undefined && schema.patternProperties === undefined;
  if (saysNothing && typeof schema.additionalProperties !== "object") return null;
  for (const [name, entry] of Object.entries(value)) {
    const inner =
      schema.properties?.[name] ??
      (typeof schema.additionalProperties === "object" ? schema.additionalProperties : null) ??
      Object.values(schema.patternProperties ?? {})[0] ??
      null;
    if (inner === null) return `${path}.${name}`;
    const found = findUndeclared(inner, entry, `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

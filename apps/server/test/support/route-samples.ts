import type { RouteDefinition } from "@assay/contract/route";
import type { TSchema } from "typebox";

export const nobodysUuid = "00000000-0000-7000-8000-000000000000";

export type Schema = TSchema & {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  minProperties?: number;
  items?: Schema;
  examples?: unknown[];
  pattern?: string;
  minLength?: number;
  minimum?: number;
  format?: string;
};

/** A value that fits a schema: a request must not fail before access is decided. */
export function sample(schema: Schema): unknown {
  if (schema.format === "uuid") return nobodysUuid;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return sample(schema.anyOf[0]);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object": {
      const names = Object.keys(schema.properties ?? {});
      const needed = names.filter((name) => schema.required?.includes(name));
      // Some bodies need at least one field, whichever.
      const given = needed.length === 0 && schema.minProperties ? names.slice(0, 1) : needed;
      return Object.fromEntries(
        given.map((name) => [name, sample(schema.properties?.[name] ?? ({} as Schema))]),
      );
    }
    case "array":
      return [];
    case "boolean":
      return false;
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    default:
      return "A".repeat(Math.max(1, schema.minLength ?? 1));
  }
}

/** The path with an identifier for each parameter: from `given`, or a well-formed one that does not exist. */
export function pathOf(route: RouteDefinition, given: (name: string) => string | null = () => null): string {
  return route.path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const known = given(name);
    if (known !== null) return known;
    const schema = route.params?.properties[name] as Schema | undefined;
    const pattern = schema?.pattern ?? "";
    const random = /\{(\d+)\}\$$/.exec(pattern)?.[1];
    // Well-formed identifiers that do not exist: the request passes validation and changes nothing.
    if (schema?.format === "uuid") return nobodysUuid;
    const prefix = /^\^\(?([a-z]+_)/.exec(pattern)?.[1] ?? "";
    return random ? `${prefix}${"0".repeat(Number(random))}` : String(sample(schema ?? ({} as Schema)));
  });
}

export function bodyOf(route: RouteDefinition, organizationId: string): unknown {
  if (route.body === undefined) return undefined;
  const body = (route.examples?.body ?? sample(route.body as Schema)) as Record<string, unknown>;
  return { ...body, ...("organizationId" in body ? { organizationId } : {}) };
}

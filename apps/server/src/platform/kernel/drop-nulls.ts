import type { TSchema } from "typebox";

/** The schema keywords that lead to a field. */
type Shape = {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, Shape>>;
  required?: readonly string[];
  additionalProperties?: boolean | Shape;
  items?: Shape;
  anyOf?: readonly Shape[];
  enum?: readonly unknown[];
  const?: unknown;
};

/**
 * Removes optional fields that are null, in place: many serializers write null for absent fields. A field
 * whose schema allows null keeps it, and a required one is still refused. The value must be within the sizes
 * and the depth of the schema.
 */
export function dropNulls(schema: TSchema, value: unknown): void {
  visit(schema as Shape, value);
}

function visit(shape: Shape, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const branch of shape.anyOf ?? []) visit(branch, value);
  if (Array.isArray(value)) {
    if (shape.items !== undefined) for (const entry of value) visit(shape.items, entry);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, inner] of Object.entries(fields)) {
    const own = shape.properties !== undefined && Object.hasOwn(shape.properties, name);
    const field = own ? shape.properties?.[name] : shape.additionalProperties;
    if (typeof field !== "object") continue;
    if (own && inner === null && !shape.required?.includes(name) && !takesNull(field)) delete fields[name];
    else visit(field, inner);
  }
}

function takesNull(shape: Shape): boolean {
  if (shape.anyOf !== undefined) return shape.anyOf.some(takesNull);
  if (shape.enum !== undefined) return shape.enum.includes(null);
  if ("const" in shape) return shape.const === null;
  return shape.type === undefined || [shape.type].flat().includes("null");
}

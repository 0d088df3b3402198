import type { TSchema } from "typebox";

/** An unknown field, or a text, list or map that exceeds the limit of the schema. */
export type Excess = { names: readonly string[] } & (
  | { kind: "unknownField" }
  | { kind: "maxLength" | "maxItems" | "maxProperties"; limit: number; ofName: boolean }
);

/** The schema keywords that the search follows. */
type Shape = {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, Shape>>;
  additionalProperties?: boolean | Shape;
  patternProperties?: Readonly<Record<string, Shape>>;
  propertyNames?: Shape;
  items?: Shape;
  anyOf?: readonly Shape[];
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
};

type Path = { parent: Path; name: string } | null;

/**
 * Finds unknown fields and values that exceed the schema's sizes, before any expensive check. Afterwards the
 * value is bounded by its schema, however large the body. The search runs no pattern and does not enter what
 * is too large. An unknown field is reported before a size, because it is the most common mistake.
 */
export function createExcessSearch(schema: TSchema): (value: unknown) => Excess | null {
  const shape = schema as Shape;
  checkShape(shape);
  return (value) => {
    const found: { size: Excess | null } = { size: null };
    return visit(shape, value, null, found) ?? found.size;
  };
}

function visit(shape: Shape, value: unknown, path: Path, found: { size: Excess | null }): Excess | null {
  if (shape.anyOf !== undefined) {
    const [only] = branches(shape);
    return only === undefined ? null : visit(only, value, path, found);
  }
  if (typeof value === "string") {
    if (isLonger(value, shape.maxLength))
      found.size ??= { kind: "maxLength", limit: shape.maxLength, names: namesOf(path), ofName: false };
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return visitEntries(shape, value, path, found);
  return visitFields(shape, value as Record<string, unknown>, path, found);
}

function visitEntries(
  shape: Shape,
  entries: readonly unknown[],
  path: Path,
  found: { size: Excess | null },
): Excess | null {
  const { items, maxItems } = shape;
  if (items === undefined) return null;
  if (maxItems !== undefined && entries.length > maxItems) {
    found.size ??= { kind: "maxItems", limit: maxItems, names: namesOf(path), ofName: false };
    return null;
  }
  for (const [index, entry] of entries.entries()) {
    const unknown = visit(items, entry, { parent: path, name: String(index) }, found);
    if (unknown !== null) return unknown;
  }
  return null;
}

function visitFields(
  shape: Shape,
  fields: Readonly<Record<string, unknown>>,
  path: Path,
  found: { size: Excess | null },
): Excess | null {
  const { properties = {}, additionalProperties, propertyNames, maxProperties } = shape;
  const names = Object.keys(fields);
  if (maxProperties !== undefined && names.length > maxProperties) {
    found.size ??= { kind: "maxProperties", limit: maxProperties, names: namesOf(path), ofName: false };
    return null;
  }
  for (const name of names) {
    const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const at = { parent: path, name };
    if (own === false) return { kind: "unknownField", names: namesOf(at) };
    if (isLonger(name, propertyNames?.maxLength))
      found.size ??= { kind: "maxLength", limit: propertyNames.maxLength, names: namesOf(at), ofName: true };
    if (typeof own !== "object") continue;
    const unknown = visit(own, fields[name], at, found);
    if (unknown !== null) return unknown;
  }
  return null;
}

/**
 * JSON Schema counts code points, some of which are two units of a JavaScript string. Reads no more of the
 * text than needed.
 */
function isLonger<L extends number | undefined>(text: string, limit: L): limit is L & number {
  if (limit === undefined || text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}

function namesOf(path: Path): string[] {
  const names: string[] = [];
  for (let at = path; at !== null; at = at.parent) names.unshift(at.name);
  return names;
}

function branches(shape: Shape): readonly Shape[] {
  return (shape.anyOf ?? []).filter((branch) => branch.type !== "null");
}

const boundless = new Set([
  ...[
    "title",
    "description",
    "examples",
    "default",
    "type",
    "enum",
    "const",
    "format",
    "pattern",
    "required",
  ],
  ...["minLength", "minItems", "minProperties", "minimum", "maximum", "uniqueItems"],
]);
const searched = new Set([
  ...["properties", "additionalProperties", "patternProperties", "propertyNames", "items", "anyOf"],
  ...["maxLength", "maxItems", "maxProperties"],
]);

/** Prevents a start with a request schema that the search does not fully support. */
function checkShape(shape: Shape): void {
  for (const keyword of Object.keys(shape))
    if (!searched.has(keyword) && !boundless.has(keyword))
      throw new Error(`a request schema uses \`${keyword}\`, which the search for excess does not know`);
  if (branches(shape).length > 1) throw new Error("a request schema has a choice other than with null");
  if ([shape.type].flat().includes("array") && shape.maxItems === undefined)
    throw new Error("a request schema has a list without `maxItems`");
  // How the schema library writes a map of anything.
  if (Object.entries(shape.patternProperties ?? {}).some(([key, own]) => key !== "^.*$" || !isEmpty(own)))
    throw new Error("a request schema has a map by pattern; use `additionalProperties`");
  const inner = [
    ...Object.values(shape.properties ?? {}),
    ...branches(shape),
    ...[shape.items, shape.propertyNames, shape.additionalProperties].filter(
      (own) => typeof own === "object",
    ),
  ];
  for (const own of inner) checkShape(own);
}

function isEmpty(shape: Shape): boolean {
  return Object.keys(shape).length === 0;
}

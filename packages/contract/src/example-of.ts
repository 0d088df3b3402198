import type { TSchema } from "typebox";
import { fieldNote } from "./field-notes.ts";

type Shape = {
  title?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  anyOf?: readonly Shape[];
  properties?: Readonly<Record<string, Shape>>;
  items?: Shape;
  additionalProperties?: boolean | Shape;
  format?: string;
  minimum?: number;
};

/**
 * A value made from the examples of a schema and its fields. It throws for a text without an example, so that
 * every new field gets one.
 */
export function exampleOf(schema: TSchema, name: string): unknown {
  return exampleAt(schema as Shape, name, "");
}

function exampleAt(shape: Shape, owner: string, field: string): unknown {
  const note = field === "" ? null : fieldNote(owner, field);
  if (note?.example !== undefined) return note.example;
  if (shape.examples !== undefined) return shape.examples[0];
  if (shape.const !== undefined) return shape.const;
  if (shape.default !== undefined) return shape.default;
  if (shape.anyOf !== undefined) {
    const choice = shape.anyOf.find(({ type }) => type !== "null");
    if (choice !== undefined) return exampleAt(choice, owner, field);
  }
  if (shape.enum !== undefined) return shape.enum[0];
  const name = shape.title ?? owner;
  switch (Array.isArray(shape.type) ? shape.type[0] : shape.type) {
    case "object":
      return objectOf(shape, name);
    case "array":
      return shape.items === undefined ? [] : [exampleAt(shape.items, name, field)];
    case "integer":
    case "number":
      return shape.minimum ?? 1;
    case "boolean":
      return true;
    default:
      throw new Error(
        `${owner}.${field} needs an example: give its schema one, or list it in field-notes.ts`,
      );
  }
}

function objectOf(shape: Shape, name: string): Record<string, unknown> {
  if (shape.properties === undefined) return {};
  return Object.fromEntries(
    Object.entries(shape.properties).map(([field, inner]) => [field, exampleAt(inner, name, field)]),
  );
}

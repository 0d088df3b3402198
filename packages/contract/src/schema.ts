import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import { type IdPrefix, idLengths } from "./facts.ts";
import type { PrefixedIdOf, UuidId } from "./ids.ts";
import { blankCharacters, unseenCharacters } from "./shown-text.ts";

/**
 * A named schema. The name becomes its `title`, by which the API description refers to it. Two different
 * schemas cannot share a name.
 */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, title: name };
}

/** A request object, which may have a name: a field that is not listed is refused. */
export function closed<P extends TProperties>(properties: P): TObject<P>;
export function closed<P extends TProperties>(name: string, properties: P): TObject<P>;
export function closed(...given: ObjectParts): TObject {
  return objectOf(given, { additionalProperties: false });
}

/** A reply object, optionally named. Fields may be added later, so clients must ignore unknown ones. */
export function open<P extends TProperties>(properties: P): TObject<P>;
export function open<P extends TProperties>(name: string, properties: P): TObject<P>;
export function open(...given: ObjectParts): TObject {
  return objectOf(given, {});
}

type ObjectParts = [TProperties] | [name: string, properties: TProperties];

function objectOf(given: ObjectParts, options: { additionalProperties?: false }): TObject {
  return given.length === 1
    ? Type.Object(given[0], options)
    : named(given[0], Type.Object(given[1], options));
}

/** `null` is written into the type array, the form that code generators understand; objects get `anyOf`. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const plain = schema as { type?: unknown; enum?: readonly unknown[]; title?: string };
  if (
    typeof plain.type === "string" &&
    plain.type !== "object" &&
    plain.type !== "array" &&
    plain.title === undefined
  ) {
    return Type.Unsafe<Static<T> | null>({
      ...schema,
      type: [plain.type, "null"],
      ...(plain.enum ? { enum: [...plain.enum, null] } : {}),
    });
  }
  return Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: "null" }] });
}

export function OneOf<const V extends readonly string[]>(values: V, options: { description?: string } = {}) {
  return Type.Unsafe<V[number]>({ type: "string", enum: [...values], ...options });
}

export const Timestamp = Type.String({
  format: "date-time",
  description: "ISO 8601, UTC, with milliseconds.",
  examples: ["2026-03-01T09:30:00.000Z"],
});

/** A secret that the service made and the caller hands back. */
export function Token(description: string) {
  return Type.String({
    minLength: 1,
    maxLength: 200,
    description,
    examples: ["EXAMPLEexampleEXAMPLEexampleEXAMPLEexample1"],
  });
}

export const Uuid = Type.String({
  format: "uuid",
  pattern: "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
  examples: ["0b8f6f0e-6f0b-4c55-9d5b-0d6f8f7f3c11"],
});

/** The UUID of a noun: the same schema, with the type of the noun's ids. */
export function UuidOf<T extends UuidId>(): TUnsafe<T> {
  return Type.Unsafe<T>(Uuid);
}

/**
 * One line of typed text: at least one visible character, and no invisible ones. The pattern separates
 * leading white space from the first other character, so that a text matches in only one way. Otherwise
 * rejecting n characters would take n² steps (catastrophic backtracking).
 */
export function Text(bounds: { min?: number; max: number; description?: string; examples?: string[] }) {
  return Type.String({
    minLength: bounds.min ?? 1,
    maxLength: bounds.max,
    pattern:
      (bounds.min ?? 1) > 0
        ? `^[${blankCharacters}]*[^${blankCharacters}${unseenCharacters}][^${unseenCharacters}]*$`
        : `^[^${unseenCharacters}]*$`,
    ...(bounds.description ? { description: bounds.description } : {}),
    ...(bounds.examples ? { examples: bounds.examples } : {}),
  });
}

/** An identifier of ours. */
export function PrefixedId<P extends IdPrefix>(prefix: P, noun: string): TUnsafe<PrefixedIdOf<P>> {
  const length = idLengths[prefix];
  return Type.Unsafe<PrefixedIdOf<P>>(
    Type.String({
      pattern: `^${prefix}_[A-Za-z0-9]{${length}}$`,
      description: `Identifier of ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}.`,
      examples: [`${prefix}_${"0jYwqF3bT1xK9mZ2".repeat(4).slice(0, length)}`],
    }),
  );
}

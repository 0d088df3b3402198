import type { TSchema } from "typebox";
import { type ErrorCode, errorTable } from "./errors.ts";
import { fieldNote } from "./field-notes.ts";
import { enumName } from "./named-enums.ts";
import { Pagination } from "./page.ts";
import { unseenBeyondBasic } from "./shown-text.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/**
 * Where a schema is used. A request's defaults are described in words,
 * because generators make a field with a default compulsory.
 */
type SchemaUse = { owner: string; request: boolean };

const nullType = { type: "null" } as const;

/**
 * A reference to a component, with `null` beside it.
 * Every generator we know turns this form into an optional value.
 */
function orNull(reference: Json): JsonObject {
  return { anyOf: [reference, nullType] };
}

/** Collects named schemas, so that each is written once. */
export class Components {
  readonly #schemas = new Map<string, Json>();

  constructor() {
    this.#schemas.set("ApiError", {
      type: "object",
      description: "What went wrong, and what to do about it.",
      required: ["code", "message", "hint", "docs"],
      properties: {
        code: { type: "string", description: "Stable; safe to match.", examples: ["NOT_FOUND"] },
        message: {
          type: "string",
          description: "What went wrong, for people; names the field where one is at fault.",
        },
        hint: { type: "string", description: "What to do about it." },
        docs: { type: "string", format: "uri", description: "A page about this code." },
      },
    });
    for (const list of [false, true]) {
      this.#schemas.set(list ? "ListFailure" : "Failure", {
        type: "object",
        description: "The answer of a request that failed.",
        required: ["data", "error", ...(list ? ["pagination"] : [])],
        properties: {
          // Generators fail at a type that is always null.
          data: { type: ["object", "null"], description: "Always null." },
          error: { $ref: "#/components/schemas/ApiError" },
          ...(list ? { pagination: { $ref: "#/components/schemas/Pagination" } } : {}),
        },
      });
    }
  }

  /** A reference to the component of a named schema; the schema itself when it has no name. */
  refer(schema: TSchema, request = false): Json {
    return this.#refer(schema, { owner: "", request });
  }

  /** The schema of a parameter, apart from what it says about itself. */
  parameter(schema: TSchema): { description: Json | null; schema: Json } {
    const { description = null, ...rest } = this.#copy(schema, { owner: "", request: false }) as JsonObject;
    return { description, schema: rest };
  }

  /** The envelope of a success as a component, named after what it holds or after the operation. */
  envelope(payload: TSchema, operation: string, list: boolean): Json {
    const held = (payload as { title?: string }).title ?? capital(operation);
    const name = `${held}${list ? "List" : "Answer"}`;
    const data = this.refer(payload);
    this.#set(name, {
      type: "object",
      description: list ? "A page of a list." : "The answer of a request that succeeded.",
      required: ["data", "error", ...(list ? ["pagination"] : [])],
      properties: {
        data: list ? { type: "array", items: data } : data,
        error: { ...orNull({ $ref: "#/components/schemas/ApiError" }), description: "Null in a success." },
        ...(list ? { pagination: this.refer(Pagination) } : {}),
      },
    });
    return { $ref: `#/components/schemas/${name}` };
  }

  schemas(): JsonObject {
    this.refer(Pagination);
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #refer(schema: TSchema, use: SchemaUse): Json {
    const name = (schema as { title?: string }).title;
    const copy = this.#copy(schema, { ...use, owner: name ?? use.owner });
    if (name === undefined) return copy;
    this.#set(name, copy);
    return { $ref: `#/components/schemas/${name}` };
  }

  #set(name: string, schema: Json): void {
    const known = this.#schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas are named ${name}`);
    this.#schemas.set(name, schema);
  }

  #copy(schema: TSchema, use: SchemaUse): Json {
    const listed = this.#enumeration(schema);
    if (listed !== null) return listed;
    const copy: JsonObject = {};
    for (const [name, entry] of Object.entries(schema)) {
      if (name.startsWith("~") || name === "title") continue;
      if (name === "properties") copy[name] = this.#properties(entry as Record<string, TSchema>, use);
      else if (name === "items" || (name === "additionalProperties" && typeof entry === "object"))
        copy[name] = this.#inner(entry as TSchema, use);
      else if (name === "anyOf") copy[name] = (entry as TSchema[]).map((choice) => this.#inner(choice, use));
      else if (name === "patternProperties")
        copy["additionalProperties"] = openValues(this.#inner(Object.values(entry)[0] as TSchema, use));
      else if (name === "pattern") copy[name] = String(entry).replaceAll(unseenBeyondBasic, "");
      else if (name === "propertyNames") copy[name] = this.#copy(entry as TSchema, use);
      else if (name === "default" && use.request) continue;
      else copy[name] = entry as Json;
    }
    return copy;
  }

  #inner(schema: TSchema, use: SchemaUse): Json {
    return (schema as { title?: string }).title === undefined
      ? this.#copy(schema, use)
      : this.#refer(schema, use);
  }

  #properties(properties: Readonly<Record<string, TSchema>>, use: SchemaUse): JsonObject {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, this.#property(name, schema, use)]),
    );
  }

  #property(name: string, schema: TSchema, use: SchemaUse): Json {
    const copy = this.#inner(schema, use) as JsonObject;
    const note = fieldNote(use.owner, name);
    const byDefault = (schema as { default?: unknown }).default;
    const description = [
      copy["description"] ?? ("$ref" in copy ? undefined : note?.description),
      use.request && byDefault !== undefined ? `Default: ${String(byDefault)}.` : undefined,
    ].filter((text) => text !== undefined);
    return {
      ...copy,
      ...(description.length === 0 ? {} : { description: description.join(" ") }),
      ...(note?.format === undefined || "$ref" in copy ? {} : { format: note.format }),
    };
  }

  /** A list of values as a reference to its component; null for any other schema, and for a list of one. */
  #enumeration(schema: TSchema): Json | null {
    const {
      enum: values,
      type,
      description,
    } = schema as { enum?: string[]; type?: unknown; description?: string };
    if (values === undefined) return null;
    const listed = values.filter((value) => value !== null);
    const name = enumName(listed);
    if (name === null) return null;
    this.#set(name, { type: "string", enum: listed });
    const reference = { $ref: `#/components/schemas/${name}` };
    // The description of a use is beside the reference, never in the list.
    const said = description === undefined ? {} : { description };
    return Array.isArray(type) ? { ...orNull(reference), ...said } : { ...reference, ...said };
  }
}

/** Values that may be anything. */
function openValues(inner: Json): Json {
  return Object.keys(inner as JsonObject).length === 0 ? true : inner;
}

export function exampleError(code: ErrorCode, list: boolean): JsonObject {
  const { message, hint } = errorTable[code];
  return {
    data: null,
    error: { code, message, hint, docs: `https://assay.example.com/docs/errors#${code}` },
    ...(list ? { pagination: { limit: 10, has_more: false, next_cursor: null } } : {}),
  };
}

export function exampleOfSuccess(payload: Json, list: boolean): JsonObject {
  return list
    ? { data: [payload], error: null, pagination: { limit: 10, has_more: false, next_cursor: null } }
    : { data: payload, error: null };
}

/** `SOME_CODE` as `SomeCode`. */
export function camel(code: string): string {
  return code.toLowerCase().split("_").map(capital).join("");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

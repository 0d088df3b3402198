import type { ErrorCode } from "@assay/contract/errors";
import { formOf } from "@assay/contract/form-of";
import { nearest } from "@assay/contract/nearest";
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { ApiError } from "./api-error.ts";
import type { Part } from "./check-text.ts";
import { dropNulls } from "./drop-nulls.ts";
import { joinNames } from "./field-name.ts";
import { createExcessSearch, type Excess } from "./find-excess.ts";

type Compiled = { findExcess: ReturnType<typeof createExcessSearch>; validator: Validator };
/** Services in one process share the schemas of the contract. */
const compiled = new WeakMap<TSchema, Compiled>();

function compile(schema: TSchema): Compiled {
  const made = compiled.get(schema) ?? {
    findExcess: createExcessSearch(schema),
    validator: Compile(schema),
  };
  compiled.set(schema, made);
  return made;
}

/**
 * Validates a part of a request. The error names the field, never the value, which may be a secret. Sizes and
 * unknown fields come first, so that patterns only run on bounded values. With `nullIsAbsent` the value is
 * changed: see `dropNulls`.
 */
export function createValidator(
  schema: TSchema,
  part: Part,
  options: { code?: ErrorCode; nullIsAbsent?: boolean } = {},
) {
  const { code = "BAD_REQUEST", nullIsAbsent = false } = options;
  // Compiled on first use: for all routes at once it takes some 40 ms of every start.
  let made: Compiled | null = null;
  return (value: unknown): unknown => {
    made ??= compile(schema);
    const { findExcess, validator } = made;
    const excess = findExcess(value);
    if (excess !== null) throw new ApiError(code, { message: explainExcess(excess, part) });
    if (nullIsAbsent) dropNulls(schema, value);
    if (validator.Check(value)) return value;
    throw new ApiError(code, { message: explain(validator.Errors(value), part, schema, value) });
  };
}

function explainExcess(excess: Excess, part: Part): string {
  const field = joinNames(excess.names);
  if (excess.kind === "unknownField") {
    return part === "query"
      ? `\`${field}\` is not a parameter of this route.`
      : `\`${field}\` is not a field of this request.`;
  }
  const rule = `must have at most ${excess.limit} ${unitOf[excess.kind]}`;
  if (field === "") return `The ${part} ${rule}.`;
  return excess.ofName ? `The name \`${field}\` ${rule}.` : `\`${field}\` ${rule}.`;
}

const unitOf = { maxLength: "characters", maxItems: "entries", maxProperties: "fields" } as const;

function explain(
  errors: readonly TLocalizedValidationError[],
  part: Part,
  schema: TSchema,
  value: unknown,
): string {
  const deepest = errors.filter((error) => error.keyword !== "anyOf").at(0) ?? errors[0];
  if (deepest === undefined) return `The ${part} is not valid.`;
  if (deepest.keyword === "required") {
    return `\`${fieldName(deepest.instancePath, deepest.params.requiredProperties[0])}\` is required.`;
  }
  const field = fieldName(deepest.instancePath);
  if (field === "") return `The ${part} ${sayRule(deepest, schema)}.`;
  if (deepest.schemaPath.endsWith("/propertyNames"))
    return `The name \`${field}\` ${sayRule(deepest, schema)}.`;
  return `\`${field}\` ${sayRule(deepest, schema)}.${meant(deepest, value)}`;
}

/** The listed value closest to the given one, which is not repeated. */
function meant(error: TLocalizedValidationError, value: unknown): string {
  if (error.keyword !== "enum") return "";
  const given = at(value, error.instancePath);
  const allowed = error.params.allowedValues.filter((each) => typeof each === "string");
  const name = typeof given === "string" ? nearest(given, allowed) : null;
  return name === null ? "" : ` Did you mean \`${name}\`?`;
}

function namesOf(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(value: unknown, path: string): unknown {
  return namesOf(path).reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], value);
}

function fieldName(path: string, last?: string): string {
  const names = namesOf(path);
  if (last !== undefined) names.push(last);
  return joinNames(names);
}

/** The part of a schema that an error refers to. */
function schemaAt(schema: TSchema, path: string): object {
  return path
    .split("/")
    .slice(1)
    .reduce<object>((part, name) => (part as Record<string, object>)[name] ?? {}, schema);
}

function sayRule(error: TLocalizedValidationError, schema: TSchema): string {
  switch (error.keyword) {
    case "type":
      return `must be ${[error.params.type].flat().map(withArticle).join(" or ")}`;
    case "enum":
      return `must be one of: ${error.params.allowedValues.filter((value) => value !== null).join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case "minLength":
      return error.params.limit === 1
        ? "must not be empty"
        : `must have at least ${error.params.limit} characters`;
    case "minimum":
      return `must be at least ${error.params.limit}`;
    case "maximum":
      return `must be at most ${error.params.limit}`;
    case "minItems":
      return `must have at least ${error.params.limit} entries`;
    case "uniqueItems":
      return "must not repeat an entry";
    case "minProperties":
      return "must have at least one field";
    case "pattern":
    case "format":
      return formOf(schemaAt(schema, error.schemaPath));
    default:
      return error.message;
  }
}

function withArticle(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

const integerText = /^-?\d{1,15}$/;

/**
 * Query parameters are text. Those with an integer or boolean schema are converted if they match; otherwise
 * the schema refuses them.
 */
export function convertQuery(
  query: Readonly<Record<string, unknown>>,
  schema: { properties: Record<string, TSchema> },
): Record<string, unknown> {
  const converted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value) && name in schema.properties)
      throw new ApiError("BAD_REQUEST", {
        message: `\`${name}\` is given more than once.`,
        hint: "Send each query parameter once.",
      });
    const type = (schema.properties[name] as { type?: string } | undefined)?.type;
    if (type === "integer" && typeof value === "string" && integerText.test(value))
      converted[name] = Number(value);
    else if (type === "boolean" && (value === "true" || value === "false"))
      converted[name] = value === "true";
    else converted[name] = value;
  }
  return converted;
}

import { eventPayloads } from "@assay/contract/events";
import type { TSchema } from "typebox";

/** The part of JSON Schema that the events use. */
type Schema = {
  title?: string;
  description?: string;
  type?: string | readonly string[];
  enum?: readonly (string | null)[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  patternProperties?: Readonly<Record<string, Schema>>;
};

const payloads = Object.values(eventPayloads) as readonly TSchema[] as readonly Schema[];

/** Every object with a name, those that others are made of first. */
function namedObjects(schemas: readonly Schema[]): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (schema: Schema): void => {
    for (const inner of [
      ...Object.values(schema.properties ?? {}),
      ...(schema.anyOf ?? []),
      ...(schema.items ? [schema.items] : []),
    ])
      visit(inner);
    if (schema.title !== undefined && schema.properties !== undefined) found.set(schema.title, schema);
  };
  schemas.forEach(visit);
  return found;
}

type Words = {
  text: string;
  number: string;
  boolean: string;
  nothing: string;
  anything: string;
  oneOf: (values: readonly string[]) => string;
  union: (types: readonly string[]) => string;
  list: (item: string) => string;
  record: (value: string) => string;
};

function typeOf(schema: Schema, words: Words): string {
  if (schema.title !== undefined && schema.properties !== undefined) return schema.title;
  if (schema.anyOf !== undefined) return words.union(schema.anyOf.map((inner) => typeOf(inner, words)));
  const values = schema.enum?.filter((value) => value !== null) ?? [];
  const types = [schema.type ?? []].flat().map((type) => {
    if (type === "string") return values.length > 0 ? words.oneOf(values) : words.text;
    if (type === "integer" || type === "number") return words.number;
    if (type === "boolean") return words.boolean;
    if (type === "null") return words.nothing;
    if (type === "array") return words.list(typeOf(schema.items ?? {}, words));
    return words.record(typeOf(Object.values(schema.patternProperties ?? {})[0] ?? {}, words));
  });
  return types.length === 0 ? words.anything : words.union(types);
}

const quoted = (values: readonly string[]) => values.map((value) => JSON.stringify(value));

const typeScript: Words = {
  text: "string",
  number: "number",
  boolean: "boolean",
  nothing: "null",
  anything: "unknown",
  oneOf: (values) => quoted(values).join(" | "),
  union: (types) => types.join(" | "),
  list: (item) => `Array<${item}>`,
  record: (value) => `Record<string, ${value}>`,
};

const python: Words = {
  text: "str",
  number: "int",
  boolean: "bool",
  nothing: "None",
  anything: "Any",
  oneOf: (values) => `Literal[${quoted(values).join(", ")}]`,
  union: (types) => (types.length === 1 ? (types[0] ?? "") : `Union[${types.join(", ")}]`),
  list: (item) => `List[${item}]`,
  record: (value) => `Dict[str, ${value}]`,
};

const note =
  "Generated from the contract by `npm run generate`. Values of an enumeration may be added at any time.";

/** The types of `@assay/webhook`. */
export function describeEventTypes(): string {
  const types = [...namedObjects(payloads)].map(([name, { properties = {} }]) => {
    const members = Object.entries(properties).map(([key, schema]) => {
      const { description = "" } = schema;
      // A longer one lists every value, as the reference does.
      const about =
        description.length > 500 ? description.slice(0, description.indexOf(". ") + 1) : description;
      const comment = about === "" ? "" : `  /** ${about} */\n`;
      return `${comment}  ${key}: ${typeOf(schema, typeScript)};`;
    });
    return `export type ${name} = {\n${members.join("\n")}\n};\n`;
  });
  const names = payloads.map(({ title }) => title);
  return `// ${note}\n\n${types.join("\n")}\n/** Every event, told apart by \`type\`. */\nexport type WebhookEvent =\n${names.map((name) => `  | ${name}`).join("\n")};\n`;
}

/** The same for `assay-webhook` in Python. */
export function describePythonEventTypes(): string {
  const types = [...namedObjects(payloads)].map(([name, { properties = {} }]) => {
    const members = Object.entries(properties).map(
      ([key, schema]) => `    ${key}: ${typeOf(schema, python)}`,
    );
    return `class ${name}(TypedDict):\n${members.join("\n")}\n`;
  });
  const names = payloads.map(({ title }) => title).join(", ");
  return `# ${note}\nfrom typing import Any, Dict, List, Literal, TypedDict, Union\n\n\n${types.join("\n\n")}\n\nWebhookEvent = Union[${names}]\n`;
}

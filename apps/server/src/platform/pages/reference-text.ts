import type { ApiDocument, Entry, Schema } from "./api-document.ts";
import { groupsOf } from "./reference.ts";

/**
 * A page of the reference as markdown, for programs that read text. Null if there is no such page; the first
 * has no name.
 */
export function referenceText(document: ApiDocument, name: string): string | null {
  if (name === "") return indexText(document);
  if (name === "schemas") return schemasText(document);
  const group = groupsOf(document).find((other) => other.name === name);
  if (group === undefined) return null;
  const operations = group.entries.map((entry) => operationText(document, entry));
  return [`# ${group.title}`, group.summary, ...operations].join("\n\n").concat("\n");
}

function indexText(document: ApiDocument): string {
  const groups = groupsOf(document).map(({ title, name, summary, entries }) =>
    [
      `## [${title}](/reference/${name}.md)`,
      "",
      summary,
      "",
      ...entries.map(({ method, path, operation }) => `- \`${method} ${path}\` ${operation.summary}`),
    ].join("\n"),
  );
  return `${["# API reference", document.info.description, ...groups].join("\n\n")}\n`;
}

function schemasText({ components }: ApiDocument): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `## ${name}\n\n${fenced(schema)}`,
  );
  return `${["# Schemas", ...schemas].join("\n\n")}\n`;
}

function operationText(document: ApiDocument, { method, path, operation }: Entry): string {
  const parameters = (operation.parameters ?? []).map((parameter) =>
    parameter.$ref === undefined
      ? parameter
      : (document.components.parameters[last(parameter.$ref)] ?? parameter),
  );
  const { content } = operation.requestBody ?? {};
  const body = content?.["application/json"];
  const event = content?.["application/jose"]?.schema.contentSchema;
  const fields = (title: string, schema: Schema | undefined) =>
    schema === undefined
      ? []
      : [`### ${title}`, fieldsText(document, schema, "")].filter((text) => text !== "");
  const answers = Object.entries(operation.responses).map(
    ([status, { description }]) => `- ${status === "default" ? "Failure" : status}: ${description}`,
  );
  const example = Object.values(operation.responses).find(
    ({ content: of }) => of?.["application/json"]?.example !== undefined,
  )?.content?.["application/json"]?.example;
  return [
    `## ${operation.summary}`,
    `\`${method} ${path}\``,
    operation.description,
    ...(parameters.length === 0
      ? []
      : [
          "### Parameters",
          parameters
            .map(
              ({ name, in: where, required, description = "", schema }) =>
                `- \`${name}\` (${where}, ${kindOf(schema)}${required ? ", required" : ""}): ${description}`,
            )
            .join("\n"),
        ]),
    ...fields("Body", body?.schema),
    ...(body?.example === undefined ? [] : [fenced(body.example)]),
    ...fields("Once decrypted", event),
    ...(method === "EVENT" ? [] : ["### Answers", answers.join("\n")]),
    ...(example === undefined ? [] : [fenced(example)]),
  ].join("\n\n");
}

/** One nested level is listed, indented; deeper levels are in the schemas. */
function fieldsText(document: ApiDocument, schema: Schema, indent: string): string {
  const { properties = {}, required = [] } = resolved(document, schema);
  return Object.entries(properties)
    .map(([name, field]) => {
      const about = field.description ?? resolved(document, field).description ?? "";
      const line = `${indent}- \`${name}\` (${kindOf(field)}${required.includes(name) ? ", required" : ""})${about === "" ? "" : `: ${about}`}`;
      const inner = indent === "" ? fieldsText(document, field.items ?? field, "  ") : "";
      return inner === "" ? line : `${line}\n${inner}`;
    })
    .join("\n");
}

function resolved(document: ApiDocument, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (document.components.schemas[last(schema.$ref)] ?? {});
}

function kindOf(schema: Schema): string {
  if (schema.$ref !== undefined) return last(schema.$ref);
  if (schema.anyOf !== undefined) return schema.anyOf.map(kindOf).join(" or ");
  if (schema.enum !== undefined) return schema.enum.join(" | ");
  if (schema.items !== undefined) return `array of ${kindOf(schema.items)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

const last = (reference: string): string => reference.split("/").at(-1) ?? "";
const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

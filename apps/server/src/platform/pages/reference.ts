import { marked } from "marked";
import type { ApiDocument, Entry, Operation, Parameter, Schema } from "./api-document.ts";
import { codeBlock, type Heading, tabs } from "./documents.ts";
import { escapeHtml } from "./layout.ts";
import { samplesOf } from "./request-samples.ts";

type ReferencePage = {
  name: string;
  title: string;
  summary: string;
  html: string;
  headings: Heading[];
};

function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

/** The operations of each tag, in the order of the tags. */
export function groupsOf(
  document: ApiDocument,
): { title: string; name: string; summary: string; entries: Entry[] }[] {
  const entries = [
    ...Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    ),
    ...Object.entries(document.webhooks).map(([path, { post }]) => ({
      method: "EVENT",
      path,
      operation: post,
    })),
  ];
  return document.tags.map(({ name, description }) => ({
    title: name,
    name: slugOf(name),
    summary: description,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

/** The first page: the format of all requests and answers, and the list of operations. */
export function referenceIndex(document: ApiDocument): ReferencePage {
  const groups = groupsOf(document).map(
    ({ title, name, summary, entries }) =>
      `<h2 id="${name}"><a class="anchor" href="/reference/${name}">${escapeHtml(title)}</a></h2><p>${escapeHtml(summary)}</p><ul class="operations">${entries
        .map(
          ({ method, path, operation }) =>
            `<li><span class="method">${method}</span><a href="/reference/${name}#${operation.operationId}">${breakable(path)}</a><span>${escapeHtml(operation.summary)}</span></li>`,
        )
        .join("")}</ul>`,
  );
  const html = `<h1>API reference</h1>${prose(document.info.description)}
<p>Version ${escapeHtml(document.info.version)}, as a document for <a href="/docs/generated-clients">client generators</a>: <a href="/openapi">OpenAPI 3.1</a>. <a href="/openapi/partner.json">For partners</a>, also <a href="/postman/partner.json">as a collection</a> for Postman and Bruno. Events, and the socket of reading devices: <a href="/asyncapi">AsyncAPI</a>. All <a href="/reference/schemas">schemas</a> and <a href="/docs/errors">error codes</a>.</p>
${groups.join("\n")}`;
  const headings = groupsOf(document).map(({ title, name }) => ({ id: name, text: title, depth: 2 }));
  return {
    name: "",
    title: "API reference",
    summary: "Every route with its fields, errors and examples.",
    html,
    headings,
  };
}

/** The page of a group of operations, or of all schemas; null where there is none by this name. */
export function namedReferencePage(document: ApiDocument, name: string): ReferencePage | null {
  const view = new View(document);
  if (name === "schemas") {
    const names = Object.keys(document.components.schemas);
    return {
      name,
      title: "Schemas",
      summary: "Every named schema of the API.",
      html: `<h1>Schemas</h1>${names.map((schema) => view.schema(schema)).join("\n")}`,
      headings: names.map((schema) => ({ id: schema, text: schema, depth: 2 })),
    };
  }
  const group = groupsOf(document).find((other) => other.name === name);
  if (group === undefined) return null;
  const { title, summary, entries } = group;
  return {
    name,
    title,
    summary,
    html: `<h1>${escapeHtml(title)}</h1><p class="lead">${escapeHtml(summary)}</p>${entries.map((entry) => view.operation(entry)).join("\n")}`,
    headings: entries.map(({ operation }) => ({
      id: operation.operationId,
      text: operation.summary,
      depth: 2,
    })),
  };
}

class View {
  readonly #document: ApiDocument;

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  operation({ method, path, operation }: Entry): string {
    const parameters = (operation.parameters ?? []).map((parameter) =>
      parameter.$ref === undefined ? parameter : this.#parameter(parameter.$ref),
    );
    const body = operation.requestBody?.content["application/json"];
    const event = operation.requestBody?.content["application/jose"]?.schema.contentSchema;
    return `<section class="operation"><h2 id="${operation.operationId}"><a class="anchor" href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></h2>
<p class="path"><span class="method">${method}</span> ${breakable(path)}</p>
${prose(operation.description)}
${["path", "query", "header"].map((where) => this.#parameters(where, parameters)).join("")}
${body === undefined ? "" : `<h3>Body</h3>${this.#object(body.schema, 0)}`}
${event === undefined ? "" : `<h3>Once decrypted</h3>${this.#object(event, 0)}`}
${method === "EVENT" ? "" : `<h3>Request</h3>${tabs(`request-${operation.operationId}`, samplesOf({ method, path, operation }, parameters))}${tryForm({ method, path, operation }, parameters)}`}
${method === "EVENT" ? "" : this.#success(operation)}${method === "EVENT" ? "" : this.#errors(operation)}</section>`;
  }

  /** One component; references are linked, not repeated. */
  schema(name: string): string {
    const schema = this.#document.components.schemas[name] ?? {};
    const inner = schema.properties === undefined ? `<p>${this.#kind(schema)}</p>` : this.#object(schema, 9);
    return `<section class="operation"><h2 id="${name}"><a class="anchor" href="#${name}">${name}</a></h2>${prose(schema.description ?? "")}${inner}</section>`;
  }

  #parameter(reference: string): Parameter {
    const found = this.#document.components.parameters[nameOf(reference)];
    if (found === undefined) throw new Error(`${reference} leads nowhere`);
    return found;
  }

  #resolve(schema: Schema): Schema {
    return schema.$ref === undefined
      ? schema
      : (this.#document.components.schemas[nameOf(schema.$ref)] ?? {});
  }

  #parameters(where: string, all: readonly Parameter[]): string {
    const chosen = all.filter((parameter) => parameter.in === where);
    if (chosen.length === 0) return "";
    const items = chosen.map(({ name, required, schema, description }) =>
      this.#field(name, description === undefined ? schema : { ...schema, description }, required, 9),
    );
    return `<h3>${{ path: "Path", query: "Query", header: "Headers" }[where]}</h3><ul class="fields">${items.join("")}</ul>`;
  }

  #object(schema: Schema, depth: number): string {
    const { properties = {}, required = [] } = this.#resolve(schema);
    const items = Object.entries(properties).map(([name, inner]) =>
      this.#field(name, inner, required.includes(name), depth),
    );
    return items.length === 0 ? "" : `<ul class="fields">${items.join("")}</ul>`;
  }

  #field(name: string, schema: Schema, required: boolean, depth: number): string {
    const about = schema.description ?? this.#resolve(schema).description;
    const inner = depth < 2 ? this.#inside(schema) : null;
    const nested = inner === null ? "" : this.#object(inner, depth + 1);
    return `<li><code>${escapeHtml(name)}</code> <span class="kind">${this.#kind(schema)}</span>${required ? ' <span class="needed">required</span>' : ""}${about === undefined ? "" : prose(about)}${rules(schema)}${nested === "" ? "" : `<details><summary>Fields of <code>${escapeHtml(name)}</code></summary>${nested}</details>`}</li>`;
  }

  /** The object inside of a field: the field itself, an entry of its list, or a value of its map. */
  #inside(schema: Schema): Schema | null {
    const choice = schema.anyOf?.find(({ type }) => type !== "null") ?? schema;
    const resolved = this.#resolve(choice);
    if (resolved.properties !== undefined) return resolved;
    if (resolved.items !== undefined) return this.#inside(resolved.items);
    return typeof resolved.additionalProperties === "object"
      ? this.#inside(resolved.additionalProperties)
      : null;
  }

  #kind(schema: Schema): string {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      const values = this.#document.components.schemas[name]?.enum;
      const link = `<a href="/reference/schemas#${name}">${name}</a>`;
      return values === undefined || values.length > 8 ? link : `${link}: ${listed(values)}`;
    }
    if (schema.anyOf !== undefined) return schema.anyOf.map((choice) => this.#kind(choice)).join(" or ");
    if (schema.enum !== undefined) return listed(schema.enum);
    if (schema.items !== undefined) return `array of ${this.#kind(schema.items)}`;
    if (typeof schema.additionalProperties === "object")
      return `map of ${this.#kind(schema.additionalProperties)}`;
    return escapeHtml(
      [schema.type ?? "any"].flat().join(" or ") + (schema.format === undefined ? "" : `, ${schema.format}`),
    );
  }

  #success(operation: Operation): string {
    const [status, answer] = Object.entries(operation.responses).find(([key]) => /^[12]/.test(key)) ?? [
      "",
      null,
    ];
    const content = answer?.content?.["application/json"];
    if (answer === null || content === undefined)
      return `<h3>Answer ${status}</h3><p>${escapeHtml(answer?.description ?? "")}</p>`;
    const data = this.#resolve(content.schema).properties?.["data"] ?? {};
    return `<h3>Answer ${status}</h3>${codeBlock(JSON.stringify(content.example, null, 2), "json")}<details><summary>Fields of <code>data</code></summary>${this.#object(data.items ?? data, 0)}</details>`;
  }

  #errors(operation: Operation): string {
    const rows = Object.entries(operation.responses).flatMap(([status, { content }]) =>
      Object.entries(content?.["application/json"]?.examples ?? {}).map(
        ([code, { $ref }]) =>
          `<tr><td>${status}</td><td><a href="/docs/errors#${code}"><code>${code}</code></a></td><td>${inline(this.#document.components.examples[nameOf($ref)]?.summary ?? "")}</td></tr>`,
      ),
    );
    return `<details><summary>Errors (${rows.length})</summary><div class="scroll" tabindex="0" role="group" aria-label="Errors"><table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div></details>`;
  }
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function prose(markdown: string): string {
  return markdown === "" ? "" : marked.parse(markdown, { async: false, gfm: false });
}

function inline(markdown: string): string {
  return marked.parseInline(markdown, { async: false, gfm: false });
}

/** Allows a line break after each part of a path, for narrow screens. */
function breakable(path: string): string {
  return escapeHtml(path)
    .replaceAll(/(?<=.)[/]/g, "<wbr>/")
    .replaceAll(".", ".<wbr>");
}

function listed(values: readonly (string | number)[]): string {
  return values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(", ");
}

function rules(schema: Schema): string {
  const said = [
    schema.minLength !== undefined && schema.minLength > 1 ? `at least ${schema.minLength} characters` : "",
    schema.maxLength === undefined ? "" : `at most ${schema.maxLength} characters`,
    schema.minimum === undefined ? "" : `from ${schema.minimum}`,
    schema.maximum === undefined ? "" : `to ${schema.maximum}`,
    schema.maxItems === undefined ? "" : `at most ${schema.maxItems} entries`,
    schema.default === undefined ? "" : `default <code>${escapeHtml(String(schema.default))}</code>`,
    schema.pattern === undefined || schema.pattern.length > 60
      ? ""
      : `<code>${escapeHtml(schema.pattern)}</code>`,
  ].filter((rule) => rule !== "");
  return said.length === 0 ? "" : `<p class="rule">${said.join(" · ")}</p>`;
}

/** Sends a request from the page. A script reveals the form; without scripts it stays hidden. */
function tryForm({ method, path, operation }: Entry, parameters: readonly Parameter[]): string {
  if ("101" in operation.responses || operation.responses["200"]?.content?.["text/event-stream"]) return "";
  const field = (name: string, label: string, more = "") =>
    `<label>${escapeHtml(label)}<input name="${name}" autocomplete="off" spellcheck="false"${more}></label>`;
  const inputs = parameters
    .filter((parameter) => parameter.in !== "header")
    .map((parameter) =>
      field(`${parameter.in}.${parameter.name}`, parameter.name, parameter.in === "path" ? " required" : ""),
    );
  const body = operation.requestBody?.content["application/json"];
  const credential =
    operation.security.length === 0 ? "" : field("credential", "API key or access token", ' type="password"');
  const text =
    body === undefined
      ? ""
      : `<label>Body<textarea name="body" spellcheck="false">${escapeHtml(JSON.stringify(body.example, null, 2))}</textarea></label>`;
  return `<details class="try" hidden><summary>Try it</summary><form data-method="${method}" data-path="${escapeHtml(path)}">${credential}${inputs.join("")}${text}<button class="send" type="submit">Send ${method}</button><output class="sample" hidden></output></form></details>`;
}

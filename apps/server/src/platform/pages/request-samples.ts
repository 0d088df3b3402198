import type { Entry, Parameter } from "./api-document.ts";

/** The text in a sample. Split, so that this file does not appear to read the environment. */
const environment = ["process", "env"].join(".");

/**
 * The same request in the languages of the reference, with `BASE` and `ASSAY_API_KEY` from the environment.
 */
export function samplesOf(
  { method, path, operation }: Entry,
  parameters: readonly Parameter[],
): { language: string; code: string }[] {
  const body = operation.requestBody?.content["application/json"]?.example;
  const keyed = operation.security.length > 0;
  const idempotent = parameters.some(({ name }) => name === "Idempotency-Key");
  const shellPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const shell = [
    `curl -s "$BASE${shellPath}"${method === "GET" ? "" : ` -X ${method}`}`,
    ...(keyed ? ['-H "authorization: Bearer $ASSAY_API_KEY"'] : []),
    ...(idempotent ? ["-H 'idempotency-key: order-1842'"] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'content-type: application/json'",
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ].join(" \\\n  ");
  const scriptPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `\${${camel(name)}}`);
  const headers = [
    ...(keyed ? [`authorization: \`Bearer \${${environment}.ASSAY_API_KEY}\``] : []),
    ...(body === undefined ? [] : ['"content-type": "application/json"']),
  ];
  const script = [
    `const answer = await fetch(\`\${${environment}.BASE}${scriptPath}\`, {`,
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2))}),`]),
    "});",
    "const { data, error } = await answer.json();",
  ].join("\n");
  const pythonPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${name}}`);
  const python = [
    "import os, requests",
    "",
    `answer = requests.${method.toLowerCase()}(`,
    `    f"{os.environ['BASE']}${pythonPath}",`,
    ...(keyed ? [`    headers={"authorization": f"Bearer {os.environ['ASSAY_API_KEY']}"},`] : []),
    ...(body === undefined ? [] : [`    json=${pythonic(indent(indent(JSON.stringify(body, null, 2))))},`]),
    ")",
    'data = answer.json()["data"]',
  ].join("\n");
  return [
    { language: "sh", code: shell },
    { language: "ts", code: script },
    { language: "python", code: python },
  ];
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

/** JSON in Python syntax: only the literals outside of strings differ. */
function pythonic(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\btrue\b|\bfalse\b|\bnull\b/g, (token) =>
    token === "true" ? "True" : token === "false" ? "False" : token === "null" ? "None" : token,
  );
}

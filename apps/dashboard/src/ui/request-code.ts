/** A request as a command or code, which reads the API key from the environment and never contains it. */
export type CodeLanguage = "curl" | "typescript" | "python";

export type CodedRequest = { url: string; body: Json };

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export const keyVariable = "ASSAY_API_KEY";

export const codeLanguages: readonly { value: CodeLanguage; label: string }[] = [
  { value: "curl", label: "curl" },
  { value: "typescript", label: "TypeScript" },
  { value: "python", label: "Python" },
];

export function requestCode(language: CodeLanguage, request: CodedRequest): string {
  switch (language) {
    case "curl":
      return curl(request);
    case "typescript":
      return typescript(request);
    case "python":
      return python(request);
  }
}

function curl({ url, body }: CodedRequest): string {
  return [
    `curl -sS ${shellText(url)} \\`,
    `  -H "authorization: Bearer $${keyVariable}" \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${shellText(JSON.stringify(body, null, 2))}`,
  ].join("\n");
}

/** In single quotes a shell changes nothing; a single quote itself has to stand outside of them. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function typescript({ url, body }: CodedRequest): string {
  return `const response = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.${keyVariable}}\`,
    "content-type": "application/json",
    // The same key again gives the same answer instead of doing it twice.
    "idempotency-key": crypto.randomUUID(),
  },
  body: JSON.stringify(${indent(JSON.stringify(body, null, 2), "  ")}),
});
const { data, error } = await response.json();
if (error) throw new Error(\`\${error.code}: \${error.message}\`);
console.log(data);
`;
}

function python({ url, body }: CodedRequest): string {
  return `import json, os, urllib.request, uuid

request = urllib.request.Request(
    ${pythonOf(url)},
    method="POST",
    headers={
        "authorization": f"Bearer {os.environ['${keyVariable}']}",
        "content-type": "application/json",
        # The same key again gives the same answer instead of doing it twice.
        "idempotency-key": str(uuid.uuid4()),
    },
    data=json.dumps(${indent(pythonOf(body), "    ")}).encode(),
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["data"])
`;
}

/** JSON and Python write texts alike, but not true, false and null. */
function pythonOf(value: Json, margin = ""): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${margin}    `;
  const entries = isList(value)
    ? value.map((item) => pythonOf(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item, inner)}`);
  const [open, close] = isList(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return `${open}${close}`;
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join("")}${margin}${close}`;
}

function isList(value: readonly Json[] | { readonly [name: string]: Json }): value is readonly Json[] {
  return Array.isArray(value);
}

/** Indents every line but the first, which follows other text. */
function indent(text: string, margin: string): string {
  return text.replaceAll("\n", `\n${margin}`);
}

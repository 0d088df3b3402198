// `npm run prove -- clients [NAME …]`: makes a client from the partners' document with every available
// generator, compiles it, and runs one flow against a service that it starts. Compares its size with a client
// of the whole document. Package managers of the machine install the tools into a folder beside the project
// (ASSAY_CLIENTS_DIR). `--write` puts the table into docs/generated-clients.md.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeApi } from "@assay/contract/openapi";
import { takesApiKey } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { launchAssay } from "../apps/server/test/support/process.ts";
import { newOwner } from "../bench/support/new-partner.ts";

const root = new URL("../", import.meta.url).pathname;
const flows = join(root, "scripts/clients");
const page = join(root, "docs/generated-clients.md");
const folder = process.env.ASSAY_CLIENTS_DIR ?? join(tmpdir(), "assay-clients");
const tools = join(folder, "tools");
const documents = { whole: join(root, "docs/openapi.json"), partner: join(folder, "partner.json") };
/** The document for the next client. */
let document = documents.partner;
/** The newest when this was last run; a newer one may be tried by changing it here. */
const versions = {
  openapiGenerator: "7.25.0",
  openapiPythonClient: "0.29.1",
  oapiCodegen: "2.8.1",
  openapiTypescript: "7.13.0",
  heyApi: "0.95.0",
} as const;

type Step = "generates" | "compiles" | "flow";
type Client = {
  name: string;
  version: string;
  language: string;
  options?: string;
  /** Commands without which nothing can be tried. */
  needs: readonly string[];
  /** Commands without which it can be generated only. */
  needsToCompile?: readonly string[];
  generates: (out: string) => void;
  compiles: (out: string) => void;
  /** Null if there is none yet. */
  flow: ((out: string) => void) | null;
};

class Failed extends Error {}

let service = { BASE: "", ASSAY_API_KEY: "" };

function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): string {
  const result = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, ...env },
  });
  if (result.status === 0) return result.stdout;
  const output = `${result.stdout}${result.stderr}`.trim().split("\n");
  throw new Failed(
    `${command}: ${output.find((line) => /error|exception|cannot/i.test(line)) ?? output.at(-1) ?? ""}`,
  );
}

function has(command: string): boolean {
  return (
    spawnSync(command, [command === "go" ? "version" : "--version"], { stdio: "ignore" }).error === undefined
  );
}

function once(file: string, install: () => void): void {
  if (!existsSync(file)) install();
}

function generatorJar(): string {
  const jar = join(tools, `openapi-generator-cli-${versions.openapiGenerator}.jar`);
  once(jar, () => {
    const artifact = `org.openapitools:openapi-generator-cli:${versions.openapiGenerator}`;
    run(tools, "mvn", [
      "-q",
      "-B",
      "dependency:copy",
      `-Dartifact=${artifact}`,
      `-DoutputDirectory=${tools}`,
    ]);
  });
  return jar;
}

function generate(language: string, out: string, options: readonly string[] = []): void {
  run(tools, "java", [
    "-jar",
    generatorJar(),
    "generate",
    "-i",
    document,
    "-g",
    language,
    "-o",
    out,
    ...options,
  ]);
}

/** A virtual environment of Python with these packages. */
function python(name: string, packages: readonly string[]): string {
  const environment = join(tools, `python-${name}`);
  once(join(environment, "bin", "installed"), () => {
    run(tools, "python3", ["-m", "venv", environment]);
    run(tools, join(environment, "bin/pip"), ["-q", "install", ...packages]);
    writeFileSync(join(environment, "bin", "installed"), "");
  });
  return join(environment, "bin");
}

/** TypeScript 5, because neither tool runs with 7 yet. */
function node(packages: readonly string[]): string {
  const modules = join(tools, "node");
  for (const name of packages) {
    const at = name.lastIndexOf("@");
    once(join(modules, "node_modules", name.slice(0, at), "package.json"), () => {
      mkdirSync(modules, { recursive: true });
      run(modules, "npm", ["install", "--silent", "--no-audit", "--no-fund", name]);
    });
  }
  return join(modules, "node_modules");
}

function compileTypeScript(out: string): void {
  const modules = node(["typescript@5.9.3", "@types/node@24.0.0", "openapi-fetch@0.17.0"]);
  rmSync(join(out, "node_modules"), { recursive: true, force: true });
  cpSync(modules, join(out, "node_modules"), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(out, "package.json"), '{"type":"module"}');
  const flags = [
    "--strict",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--skipLibCheck",
    "--outDir",
    "built",
  ];
  run(out, join(modules, ".bin/tsc"), [
    ...flags,
    "--moduleResolution",
    "nodenext",
    "--rootDir",
    ".",
    "flow.ts",
  ]);
}

function putFlow(out: string, file: string, as: string): void {
  mkdirSync(join(out, as, ".."), { recursive: true });
  cpSync(join(flows, file), join(out, as));
}

const goEnvironment = { GOFLAGS: "-mod=mod", GOBIN: join(tools, "go"), GOPATH: join(tools, "gopath") };
const goModule = "module example.com/flow\n\ngo 1.22\n";

function compileGo(out: string, flow: string): void {
  putFlow(out, flow, "main.go");
  writeFileSync(join(out, "go.mod"), goModule);
  run(out, "go", ["mod", "tidy"], goEnvironment);
  run(out, "go", ["vet", "./..."], goEnvironment);
}

function runGo(out: string): void {
  pass(run(out, "go", ["run", "."], { ...goEnvironment, ...service }));
}

/** A client that openapi-generator makes; its jar comes by Maven. */
const withGenerator = (client: Omit<Client, "name" | "version" | "needs">): Client => ({
  name: "openapi-generator",
  version: versions.openapiGenerator,
  needs: ["java", "mvn"],
  ...client,
});

const clients: readonly Client[] = [
  {
    name: "openapi-typescript",
    version: versions.openapiTypescript,
    language: "TypeScript",
    needs: ["npm"],
    generates: (out) => {
      const modules = node([`openapi-typescript@${versions.openapiTypescript}`]);
      run(out, join(modules, ".bin/openapi-typescript"), [document, "-o", "schema.d.ts"]);
    },
    compiles: (out) => {
      putFlow(out, "flow-fetch.ts.txt", "flow.ts");
      compileTypeScript(out);
    },
    flow: (out) => pass(run(out, process.execPath, ["built/flow.js"], service)),
  },
  {
    name: "@hey-api/openapi-ts",
    version: versions.heyApi,
    language: "TypeScript",
    options: "`output.module.extension: .js`",
    needs: ["npm"],
    generates: (out) => {
      const modules = node([`@hey-api/openapi-ts@${versions.heyApi}`, "typescript@5.9.3"]);
      const output = { path: out, module: { extension: ".js" } };
      const file = join(tools, "hey-api.config.mjs");
      writeFileSync(
        file,
        `export default ${JSON.stringify({ input: document, output, plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"] })};`,
      );
      run(tools, join(modules, ".bin/openapi-ts"), ["-f", file]);
    },
    compiles: (out) => {
      putFlow(out, "flow-hey-api.ts.txt", "flow.ts");
      compileTypeScript(out);
    },
    flow: (out) => pass(run(out, process.execPath, ["built/flow.js"], service)),
  },
  {
    name: "openapi-python-client",
    version: versions.openapiPythonClient,
    language: "Python",
    needs: ["python3"],
    generates: (out) => {
      const bin = python("client", [`openapi-python-client==${versions.openapiPythonClient}`]);
      const args = [
        "generate",
        "--path",
        document,
        "--output-path",
        join(out, "assay_client"),
        "--meta",
        "none",
        "--overwrite",
      ];
      run(out, join(bin, "openapi-python-client"), args, { PATH: `${bin}:${process.env.PATH ?? ""}` });
    },
    compiles: (out) => void run(out, "python3", ["-m", "compileall", "-q", "assay_client"]),
    flow: (out) => {
      putFlow(out, "flow_python_client.py", "flow.py");
      pass(run(out, join(python("client", []), "python"), ["flow.py"], service));
    },
  },
  {
    name: "oapi-codegen",
    version: versions.oapiCodegen,
    language: "Go",
    needs: ["go"],
    generates: (out) => {
      const tool = join(tools, "go/oapi-codegen");
      once(tool, () => {
        const source = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${versions.oapiCodegen}`;
        run(tools, "go", ["install", source], goEnvironment);
      });
      mkdirSync(join(out, "assay"), { recursive: true });
      run(out, tool, [
        "-generate",
        "types,client",
        "-package",
        "assay",
        "-o",
        "assay/client.gen.go",
        document,
      ]);
    },
    compiles: (out) => compileGo(out, "flow.go.txt"),
    flow: runGo,
  },
  withGenerator({
    language: "Go",
    options: "`enumClassPrefix=true`",
    needsToCompile: ["go"],
    generates: (out) =>
      generate("go", join(out, "assay"), [
        "--additional-properties=enumClassPrefix=true,withGoMod=false",
        "--global-property=apiTests=false,modelTests=false",
      ]),
    compiles: (out) => {
      for (const file of globSync(join(out, "assay/test/*"))) rmSync(file);
      compileGo(out, "flow-generator.go.txt");
    },
    flow: runGo,
  }),
  withGenerator({
    language: "Python",
    needsToCompile: ["python3"],
    // Its templates for OpenAPI 3.1 events omit parameter types, so only operations are generated.
    options: "`--global-property=apis,models,supportingFiles`",
    generates: (out) => generate("python", out, ["--global-property=apis,models,supportingFiles"]),
    compiles: (out) => void run(out, "python3", ["-m", "compileall", "-q", "openapi_client"]),
    flow: (out) => {
      putFlow(out, "flow_generator.py", "flow.py");
      const bin = python("generator", ["-r", join(out, "requirements.txt")]);
      pass(run(out, join(bin, "python"), ["flow.py"], service));
    },
  }),
  withGenerator({
    language: "Java",
    options: "`--library native`, `containerDefaultToNull=true`",
    generates: (out) =>
      generate("java", out, ["--library", "native", "--additional-properties=containerDefaultToNull=true"]),
    compiles: (out) => {
      putFlow(out, "Flow.java.txt", "src/main/java/org/openapitools/client/Flow.java");
      run(out, "mvn", ["-q", "-B", "-DskipTests", "compile"]);
    },
    flow: (out) => {
      run(out, "mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"]);
      pass(run(out, "java", ["-cp", "target/classes:jars/*", "org.openapitools.client.Flow"], service));
    },
  }),
  withGenerator({
    language: "PHP",
    needsToCompile: ["php"],
    generates: (out) => generate("php", out),
    compiles: (out) => {
      putFlow(out, "flow.php.txt", "flow.php");
      for (const file of [...globSync(join(out, "lib/**/*.php")), "flow.php"]) run(out, "php", ["-l", file]);
    },
    flow: (out) => {
      if (!has("composer")) throw new Failed("composer is not on this machine");
      run(out, "composer", ["install", "--no-dev", "--quiet"]);
      pass(run(out, "php", ["flow.php"], service));
    },
  }),
  withGenerator({
    language: "C#",
    needsToCompile: ["dotnet"],
    generates: (out) => generate("csharp", out),
    compiles: (out) => {
      run(out, "dotnet", ["new", "console", "-o", "flow", "--force"]);
      putFlow(out, "Flow.cs.txt", "flow/Program.cs");
      run(out, "dotnet", ["add", "flow", "reference", "src/Org.OpenAPITools/Org.OpenAPITools.csproj"]);
      run(out, "dotnet", ["build", "flow"]);
    },
    flow: (out) => pass(run(out, "dotnet", ["run", "--no-build", "--project", "flow"], service)),
  }),
  withGenerator({
    language: "Rust",
    needsToCompile: ["cargo"],
    generates: (out) => generate("rust", out),
    compiles: (out) => void run(out, "cargo", ["check", "--quiet"]),
    flow: null,
  }),
  withGenerator({
    language: "Ruby",
    needsToCompile: ["ruby"],
    generates: (out) => generate("ruby", out),
    compiles: (out) => {
      for (const file of globSync(join(out, "lib/**/*.rb"))) run(out, "ruby", ["-c", file]);
    },
    flow: null,
  }),
  withGenerator({
    language: "Kotlin",
    needsToCompile: ["gradle"],
    generates: (out) => generate("kotlin", out),
    compiles: (out) => void run(out, "gradle", ["--quiet", "compileKotlin"]),
    flow: null,
  }),
  withGenerator({
    language: "Swift",
    options: "`-g swift6`",
    needsToCompile: ["swift"],
    generates: (out) => generate("swift6", out),
    compiles: (out) => void run(out, "swift", ["build"]),
    flow: null,
  }),
];

function pass(output: string): void {
  if (!output.includes("flow passed")) throw new Failed("the flow ended without its last line");
}

type Row = { client: Client; results: Record<Step, string>; sizes: Record<keyof typeof documents, string> };

/** Lines and bytes of the source that was generated, without tests and documentation. */
function sizeOf(out: string): string {
  const sources = globSync(join(out, "**/*.{ts,py,go,java,php,cs,rs,rb,kt,swift}"))
    .filter((file) => !/\/(?:tests?|spec|docs?)\/|_test\.go$/.test(file.slice(out.length)))
    .map((file) => readFileSync(file, "utf8"));
  const lines = sources.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
  const kilobytes = Math.round(sources.reduce((sum, text) => sum + text.length, 0) / 1000);
  return `${lines.toLocaleString("en")} lines, ${kilobytes.toLocaleString("en")} kB`;
}

/** Made of the whole document, only to be measured. */
function wholeSize(client: Client, out: string): string {
  mkdirSync(out, { recursive: true });
  document = documents.whole;
  try {
    client.generates(out);
    return sizeOf(out);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return "no";
  } finally {
    document = documents.partner;
    rmSync(out, { recursive: true, force: true });
  }
}

function attempt(client: Client): Row {
  const results: Record<Step, string> = { generates: "no", compiles: "no", flow: "no" };
  const sizes = { whole: "", partner: "" };
  const missing = client.needs.find((command) => !has(command));
  if (missing !== undefined) return { client, sizes, results: all(`not tried: no \`${missing}\``) };
  const out = join(folder, `${client.name}-${client.language}`.replaceAll(/[^\w-]/g, "-"));
  rmSync(out, { recursive: true, force: true });
  sizes.whole = wholeSize(client, out);
  mkdirSync(out, { recursive: true });
  for (const step of ["generates", "compiles", "flow"] as const) {
    const take = client[step];
    if (take === null) {
      results[step] = "not tried: no flow is written";
      continue;
    }
    const lacking =
      step === "generates" ? undefined : client.needsToCompile?.find((command) => !has(command));
    if (lacking !== undefined) {
      results[step] = `not tried: no \`${lacking}\``;
      continue;
    }
    try {
      take(out);
      if (step === "generates") sizes.partner = sizeOf(out);
      results[step] = "yes";
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      console.error(`  ${client.name} ${client.language}, ${step}: ${error.message}`);
      results[step] = error.message.includes("not on this machine") ? `not tried: ${error.message}` : "no";
      if (results[step] === "no") break;
    }
  }
  return { client, results, sizes };
}

function all(text: string): Record<Step, string> {
  return { generates: text, compiles: text, flow: text };
}

function rowOf({ client, results, sizes }: Row): string {
  return `| ${client.name} | ${client.version} | ${client.language} | ${client.options ?? ""} | ${sizes.whole} | ${sizes.partner} | ${results.generates} | ${results.compiles} | ${results.flow} |`;
}

function tableOf(rows: readonly Row[]): string {
  return [
    "| Generator | Version | Language | Options | From the whole document | From the partners' | Generates | Compiles | Flow |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map(rowOf),
  ].join("\n");
}

/** A service with an organization and a key of it. The result ends it. */
async function startService(): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), "assay-clients-data-"));
  const assay = launchAssay({ DATA_DIR: dataDir });
  const stop = async () => {
    await assay.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const base = await assay.listening;
    const { send } = await newOwner(base, { name: "Acme", slug: "acme" });
    const scopes = ["sessions:read", "sessions:write", "webhooks:read", "webhooks:write"];
    const { key = "" } = await send("/v1/auth/api-keys", { name: "Clients", scopes });
    service = { BASE: base, ASSAY_API_KEY: key };
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

function writeTable(table: string): void {
  const text = readFileSync(page, "utf8");
  const [from, to] = ["<!-- clients -->\n", "<!-- end of clients -->"];
  const start = text.indexOf(from) + from.length;
  writeFileSync(page, `${text.slice(0, start)}\n${table}\n\n${text.slice(text.indexOf(to))}`);
}

const args = process.argv.slice(2);
const wanted = args.filter((arg) => !arg.startsWith("--"));
mkdirSync(tools, { recursive: true });
writeFileSync(
  documents.partner,
  JSON.stringify(describeApi(routes.filter(takesApiKey), { audience: "partner" })),
);
const stop = await startService();
try {
  const chosen = clients.filter(
    ({ name, language }) =>
      wanted.length === 0 || wanted.some((word) => `${name} ${language}`.includes(word)),
  );
  const rows = chosen.map((client) => {
    console.error(`${client.name} ${client.version}, ${client.language}`);
    const row = attempt(client);
    console.log(rowOf(row));
    return row;
  });
  if (args.includes("--write")) writeTable(tableOf(rows));
  if (rows.some(({ results }) => Object.values(results).includes("no"))) process.exitCode = 1;
} finally {
  await stop();
}

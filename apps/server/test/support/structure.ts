import { globSync, readFileSync } from "node:fs";
import path from "node:path/posix";

/** The project's source files by path, with the support of tests, benchmarks and scripts. */
export type Sources = ReadonlyMap<string, string>;

const places = ["apps/*/{src,test,build}", "packages/*/{src,test,fuzz}", "bench", "scripts", "examples"];

export function readSources(root: string): Sources {
  const paths = globSync(
    places.map((place) => `${place}/**/*.{ts,tsx}`),
    { cwd: root },
  ).filter((file) => !/\.test\.tsx?$|\/node_modules\//.test(file));
  return new Map(paths.map((file) => [file, readFileSync(`${root}${file}`, "utf8")]));
}

const importPatterns = [
  // import … from "x", export … from "x", over any number of lines
  /^(?:import|export)\s[^"';=]*?\sfrom\s+["']([^"']+)["']/gm,
  /^import\s+["']([^"']+)["']/gm,
  // import("x"), also as a type; worker files are named by new URL("x", import.meta.url)
  /\bimport\(\s*["']([^"']+)["']\s*\)/g,
  /\bnew URL\(\s*["']([^"']+\.tsx?)["']\s*,\s*import\.meta\.url\s*\)/g,
];

type Import = { from: string; to: string };

/** Every import of every file. Relative ones and those of this project's packages are paths from the root. */
export function importsOf(sources: Sources): Import[] {
  const found: Import[] = [];
  for (const [from, text] of sources) {
    const names = importPatterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].map((match) => match[1] ?? ""),
    );
    for (const name of names) {
      const ours = /^@assay\/([a-z-]+)\/(.+)$/.exec(name);
      const to = name.startsWith(".")
        ? path.normalize(path.join(path.dirname(from), name))
        : ours
          ? `packages/${ours[1]}/src/${ours[2]}.ts`
          : name;
      found.push({ from, to });
    }
  }
  return found;
}

/** What each workspace may import of the others. */
const workspaces: Readonly<Record<string, readonly string[]>> = {
  "packages/contract": [],
  "packages/cli": ["packages/contract"],
  "packages/credential": [],
  "packages/emrtd": [],
  "packages/face": ["packages/contract"],
  "packages/mrz-reader": ["packages/emrtd"],
  "packages/device": ["packages/contract", "packages/credential", "packages/emrtd", "packages/face"],
  "packages/ui": [],
  "apps/server": [
    "packages/contract",
    "packages/credential",
    "packages/emrtd",
    "packages/face",
    "packages/device",
    "packages/cli",
    "packages/ui",
  ],
  "apps/verify": [
    "packages/contract",
    "packages/credential",
    "packages/emrtd",
    "packages/face",
    "packages/mrz-reader",
    "packages/device",
    "packages/ui",
  ],
  "apps/dashboard": ["packages/contract", "packages/ui"],
};

/** The wings of the server. Each imports itself and those before it. */
const wings = ["platform", "tenants", "delivery", "verification", "operations"];

/** The floors of the platform: what each folder may import; single files by name. */
const floors: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  lib: ["kernel"],
  db: ["kernel", "lib"],
  settings: ["lib"],
  installation: ["kernel", "lib", "db", "settings", "config.ts", "load-config.ts"],
  pages: [],
  http: ["kernel", "lib", "db", "pages"],
};

const server = "apps/server/src/";

/** Tests and their support are outside of the workspaces' sources, and may import anything. */
function workspaceOf(file: string): string | null {
  return /^((?:apps|packages)\/[a-z-]+)\/src\//.exec(file)?.[1] ?? null;
}

/** The wing of the server that a file is in; null outside of the server and for files that wire the wings. */
function wingOf(file: string): string | null {
  return wings.find((wing) => file.startsWith(`${server}${wing}/`)) ?? null;
}

/** The folder of the server that a file is in; "" for the files beside the folders, which wire everything. */
function folderOf(file: string): string | null {
  if (!file.startsWith(server)) return null;
  const wing = wingOf(file);
  const rest = file.slice(server.length + (wing === null ? 0 : wing.length + 1));
  return rest.includes("/") ? rest.slice(0, rest.indexOf("/")) : "";
}

/** Each rule of the house that the sources break, as a line that names the place. */
export function violations(sources: Sources): string[] {
  const imports = importsOf(sources);
  return [
    ...imports.flatMap(workspaceViolation),
    ...imports.flatMap(wingViolation),
    ...imports.flatMap(floorViolation),
    ...imports.flatMap(featureViolation),
    ...circles(imports.map(({ from, to }) => [from, to])).map(
      (circle) => `circle of files: ${circle.join(" → ")}`,
    ),
    ...circles(folderEdges(imports)).map((circle) => `circle of folders: ${circle.join(" → ")}`),
    ...textViolations(sources),
  ];
}

function workspaceViolation({ from, to }: Import): string[] {
  const [own, other] = [workspaceOf(from), workspaceOf(to)];
  // The contract runs in browsers, servers and generators alike.
  if (own === "packages/contract" && other === null && !/^typebox(\/|$)/.test(to))
    return [`${from} imports ${to}: the contract knows the schema library and nothing else`];
  if (own === null || other === null || own === other) return [];
  return workspaces[own]?.includes(other) ? [] : [`${from} imports ${to}: ${own} does not know ${other}`];
}

function wingViolation({ from, to }: Import): string[] {
  const [own, other] = [wingOf(from), wingOf(to)];
  if (own === null || other === null || wings.indexOf(other) <= wings.indexOf(own)) return [];
  return [`${from} imports ${to}: the wing ${own} does not know ${other}`];
}

function floorViolation({ from, to }: Import): string[] {
  const [own, other] = [folderOf(from), folderOf(to)];
  if (own === null) return [];
  const framework = to === "fastify" || to.startsWith("@fastify/");
  if (framework && own !== "http") return [`${from} imports ${to}: only http knows the web framework`];
  const allowed = floors[own];
  if (allowed === undefined || other === null || other === own) return [];
  if (allowed.includes(other === "" ? path.basename(to) : other)) return [];
  return [`${from} imports ${to}: ${own} does not know ${other === "" ? "what wires it" : other}`];
}

function featureViolation({ from, to }: Import): string[] {
  const [own, other] = [folderOf(from), folderOf(to)];
  if (own === null || other === null || own === other || own === "" || own === "cli") return [];
  const problems: string[] = [];
  if (/\.(routes|view|job)\.ts$/.test(to))
    problems.push(
      `${from} imports ${to}: another feature is reached through its nouns, use cases and stores`,
    );
  if (other === "http" && !(own in floors) && !from.endsWith(".routes.ts"))
    problems.push(`${from} imports ${to}: only routes know http`);
  if (other === "cli") problems.push(`${from} imports ${to}: nothing is built on the command line`);
  if (to.endsWith("/db/sql.ts") && own !== "db" && own !== "installation" && !from.endsWith(".store.ts"))
    problems.push(`${from} imports ${to}: statements are written in stores`);
  return problems;
}

/** A folder of any workspace, in the server one of a wing; a file beside the folders stands for itself. */
function nodeOf(file: string): string | null {
  const wing = wingOf(file);
  const [, source = "", rest = ""] =
    wing === null
      ? (/^((?:apps|packages)\/[a-z-]+\/src)\/(.+)$/.exec(file) ?? [])
      : ["", server + wing, file.slice(server.length + wing.length + 1)];
  if (source === "") return null;
  if (rest.includes("/")) return `${source}/${rest.slice(0, rest.indexOf("/"))}`;
  return file;
}

function folderEdges(imports: readonly Import[]): [string, string][] {
  return imports.flatMap(({ from, to }): [string, string][] => {
    const [own, other] = [nodeOf(from), nodeOf(to)];
    return own === null || other === null || own === other ? [] : [[own, other]];
  });
}

function textViolations(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const own = folderOf(file);
    if (own === null) return [];
    const problems: string[] = [];
    const readsEnvironment = /\bprocess\.env\b/.test(text);
    if (readsEnvironment && own !== "cli" && !/src\/main\.ts$/.test(file))
      problems.push(`${file} reads the environment: only load-config.ts is given it`);
    if (/\bDate\.now\(\)|new Date\(\)/.test(text) && !["lib", "db", "cli", "installation"].includes(own)) {
      if (file !== `${server}platform/kernel/clock.ts`)
        problems.push(`${file} reads the system's time: only clocks do`);
    }
    return problems;
  });
}

/** The strongly connected components of more than one node (Tarjan), each as a list of its nodes. */
export function circles(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    if (!next.has(from)) next.set(from, new Set());
    next.get(from)?.add(to);
  }
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node) ?? 0);
    stack.push(node);
    for (const other of next.get(node) ?? []) {
      if (!order.has(other)) visit(other);
      if (stack.includes(other)) lowest.set(node, Math.min(lowest.get(node) ?? 0, lowest.get(other) ?? 0));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) found.push(component.sort());
  };
  for (const node of next.keys()) if (!order.has(node)) visit(node);
  return found;
}

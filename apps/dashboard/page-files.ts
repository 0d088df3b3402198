import { readFileSync } from "node:fs";
import { parseAst } from "vite";

type Node = { type: string; name?: string; value?: unknown } & Record<string, unknown>;

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** Everything below a node, the node itself first. */
function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node))
    for (const inner of Array.isArray(value) ? value : [value]) if (isNode(inner)) yield* nodesOf(inner);
}

function property(object: Node, name: string): Node | undefined {
  const found = (object.properties as Node[]).find(({ key }) => isNode(key) && key.name === name);
  return isNode(found?.value) ? found.value : undefined;
}

/** The source file of each page behind the sign-in, by the router's path. */
export function pagesOfRouter(source: string): { shell: string; pages: Map<string, string> } {
  const pages = new Map<string, string>();
  let shell = "";
  const program = parseAst(source, { lang: "tsx" }) as unknown as Node;
  for (const node of nodesOf(program)) {
    if (node.type !== "CallExpression" || !isNode(node.callee)) continue;
    const [first] = node.arguments as Node[];
    const load = [...nodesOf(node)].find(({ type }) => type === "ImportExpression");
    if (first === undefined || !isNode(load?.source)) continue;
    const file = String(load.source.value);
    if (node.callee.name === "page") pages.set(String(first.value), file);
    else if (node.callee.name === "createRoute" && property(first, "id")?.value === "shell") shell = file;
  }
  return { shell, pages };
}

type Chunk = { type: string; fileName: string; isEntry?: boolean; imports?: string[]; moduleIds?: string[] };

/**
 * If scripts import each other in a circle, one runs before the other is loaded, and the page fails. The
 * groups of the build can make such a circle.
 */
function refuseCircles(bundle: Record<string, Chunk>): void {
  const done = new Set<string>();
  const walk = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) throw new Error(`Scripts in a circle: ${[...above, file].join(" > ")}`);
    if (done.has(file)) return;
    for (const imported of bundle[file]?.imports ?? []) walk(imported, [...above, file]);
    done.add(file);
  };
  for (const file of Object.keys(bundle)) walk(file, []);
}

/**
 * Build plugin: lists the scripts of each page behind the sign-in for the service, which names them in the
 * head. Otherwise a browser discovers them late.
 */
export function pageFiles(router: URL): {
  name: string;
  apply: "build";
  generateBundle(
    this: { emitFile(file: { type: "asset"; fileName: string; source: string }): void },
    options: unknown,
    bundle: Record<string, Chunk>,
  ): void;
} {
  return {
    name: "page-files",
    apply: "build",
    generateBundle(_, bundle) {
      const withImports = (fileName: string, found = new Set<string>()): Set<string> => {
        if (found.has(fileName)) return found;
        found.add(fileName);
        for (const imported of bundle[fileName]?.imports ?? []) withImports(imported, found);
        return found;
      };
      refuseCircles(bundle);
      const entry = Object.values(bundle).find(({ isEntry }) => isEntry === true);
      const atOnce = entry === undefined ? new Set<string>() : withImports(entry.fileName);
      const scriptsOf = (source: string): string[] => {
        const path = new URL(source, router).pathname;
        const chunk = Object.values(bundle).find(({ moduleIds }) => moduleIds?.includes(path) === true);
        if (chunk === undefined) throw new Error(`No script of the build has ${source}.`);
        return [...withImports(chunk.fileName)].filter((file) => !atOnce.has(file));
      };
      const { shell, pages } = pagesOfRouter(readFileSync(router, "utf8"));
      const files = [...pages].map(([path, source]) => [
        path,
        [...new Set([...scriptsOf(shell), ...scriptsOf(source)])],
      ]);
      this.emitFile({
        type: "asset",
        fileName: ".vite/pages.json",
        source: JSON.stringify(Object.fromEntries(files), null, 2),
      });
    },
  };
}

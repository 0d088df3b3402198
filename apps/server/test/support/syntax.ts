import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Node } from "@vscode/tree-sitter-wasm";

const require = createRequire(import.meta.url);
const { Language, Parser } = require("@vscode/tree-sitter-wasm") as typeof import("@vscode/tree-sitter-wasm");
const grammars = dirname(require.resolve("@vscode/tree-sitter-wasm"));
let ready: Promise<void> | null = null;

/** Syntax errors as `line: text`, for samples whose compiler is not on every machine. */
export async function syntaxProblems(grammar: string, text: string): Promise<string[]> {
  ready ??= Parser.init();
  await ready;
  const parser = new Parser();
  parser.setLanguage(await Language.load(join(grammars, `tree-sitter-${grammar}.wasm`)));
  const tree = parser.parse(text);
  const problems: string[] = [];
  const walk = (node: Node) => {
    if (node.isError || node.isMissing)
      problems.push(`${node.startPosition.row + 1}: ${node.text.split("\n")[0]}`);
    for (const child of node.children) if (child?.hasError || child?.isMissing) walk(child);
  };
  if (tree !== null) walk(tree.rootNode);
  tree?.delete();
  parser.delete();
  return tree === null ? ["0: nothing was read"] : problems;
}

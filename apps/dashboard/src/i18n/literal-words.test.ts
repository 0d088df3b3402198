import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";
import { parseAst } from "vite";

type Node = { type: string } & Record<string, unknown>;

/** What a component shows, or a screen reader says. */
const shownProps = new Set(
  "about alt aria-label caption confirm dates detail done empty explanation header hint label legend name never note open placeholder saved submit title what".split(
    " ",
  ),
);
/** Abbreviations, file endings and names, which are the same in every language. */
const names = /^(?:[A-Z]+(?:-[A-Z]+)*|\.[a-z.]+|ms|Assay|curl|PostgreSQL|Python|TypeScript)$/;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
const nodesIn = (value: unknown): Node[] => [value].flat().filter(isNode);
const nameOf = (node: unknown) => {
  const { name, value } = (node ?? {}) as { name?: unknown; value?: unknown };
  return [name, value].find((text) => typeof text === "string") ?? "";
};

/** The texts to which an expression can evaluate. */
function literalsOf(node: Node): string[] {
  const all = (...parts: unknown[]) => parts.flatMap(nodesIn).flatMap(literalsOf);
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? [node.value] : [];
    case "TemplateLiteral":
      return nodesIn(node.quasis).map(({ value }) => (value as { cooked: string }).cooked);
    case "ConditionalExpression":
      return all(node.consequent, node.alternate);
    case "LogicalExpression":
      return all(node.right);
    case "BinaryExpression":
      return node.operator === "+" ? all(node.left, node.right) : [];
    case "JSXExpressionContainer":
      return all(node.expression);
    default:
      return [];
  }
}

/** Texts in the code that a user of the page can see. */
function shownIn(node: Node, isCode = false): string[] {
  const shown: string[] = [];
  const values = (value: unknown) => nodesIn(value).flatMap(literalsOf);
  const children = nodesIn(node.children);
  const inCode =
    isCode || (node.type === "JSXElement" && nameOf((node.openingElement as Node).name) === "code");
  if (!inCode)
    for (const child of children)
      shown.push(...(child.type === "JSXText" ? [String(child.value)] : values(child)));
  if (node.type === "JSXAttribute" && shownProps.has(nameOf(node.name)) && !isNameOfField(node))
    shown.push(...values(node.value));
  if (node.type === "Property" && shownProps.has(nameOf(node.key)) && !isNameOfField(node))
    shown.push(...values(node.value));
  if (
    /^(Call|New)Expression$/.test(node.type) &&
    /^(toast|PageProblem|PasskeyRefusal)$/.test(nameOf(node.callee))
  )
    shown.push(...values((node.arguments as unknown[])[0]));
  // A fact is a pair of its name and its value.
  const pair = node.type === "ArrayExpression" ? nodesIn(node.elements) : [];
  if (pair.length === 2 && pair[1]?.type !== "Literal")
    shown.push(...values(pair[0]).filter((text) => /^[A-Z]/.test(text)));
  for (const value of Object.values(node))
    shown.push(...nodesIn(value).flatMap((inner) => shownIn(inner, inCode)));
  return shown;
}

/** `name` is a field's label in lower case, where it is not a heading. */
function isNameOfField(node: Node): boolean {
  if (nameOf(node.name ?? node.key) !== "name" && nameOf(node.name ?? node.key) !== "open") return false;
  return nodesIn(node.value)
    .flatMap(literalsOf)
    .every((text) => /^[a-z_-]*$/.test(text));
}

/** A list of classes is no text. */
const hasWords = (text: string) =>
  /\p{L}{2,}/u.test(text) && !names.test(text.trim()) && !/^[\w-]+:[\w-]/.test(text);

test("no page has words of its own: all of them come from the texts", () => {
  const source = new URL("../", import.meta.url);
  const files = globSync("**/*.{ts,tsx}", { cwd: source }).filter((file) => !file.endsWith(".test.ts"));
  assert.ok(files.length > 100);
  const found = files.flatMap((file) => {
    const program = parseAst(readFileSync(new URL(file, source), "utf8"), { lang: "tsx" }) as unknown as Node;
    return shownIn(program)
      .filter(hasWords)
      .map((text) => `${file}: ${text.trim()}`);
  });
  assert.deepEqual(found, []);
});

test("words in a page are found wherever they can stand", () => {
  const wordsIn = (source: string) =>
    shownIn(parseAst(source, { lang: "tsx" }) as unknown as Node).filter(hasWords);
  for (const source of [
    "<p>Some words</p>",
    '<p>{on ? "Yes" : t.no}</p>',
    '<Card title="Some words" />',
    "<Card title={`Some words`} />",
    '<Time never={at ?? "Never"} />',
    'const column = { header: "Name" };',
    'toast("Saved.")',
    'throw new PageProblem("Some words.")',
    '<Facts facts={[["Name", name]]} />',
  ])
    assert.ok(wordsIn(source).length > 0, source);
  for (const source of [
    "<code>assay jobs</code>",
    '<Field name="email" label={t.ui.email} />',
    '<p className="some words">{t.ui.email} · 5 %</p>',
    'if (kind === "other") go("somewhere");',
  ])
    assert.deepEqual(wordsIn(source), [], source);
});

type Expected = "value" | "valueOrEnd" | "name" | "nameOrEnd" | "colon" | "commaOrEnd" | "nothing";

const space = /[ \t\n\r]*/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in a string.
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/**
 * The index at which a text stops being JSON; its length if it is cut off. JavaScript's parser does not help:
 * it reports the position of only some errors and quotes the text for others. Iterative, so nesting cannot
 * overflow the stack.
 */
export function findJsonError(text: string): number {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let expected: Expected = "value";
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const afterValue = (): Expected => (open.length === 0 ? "nothing" : "commaOrEnd");
  for (;;) {
    take(space);
    const next = text[at];
    if (next === undefined) return text.length;
    if ((expected === "value" || expected === "valueOrEnd") && (next === "{" || next === "[")) {
      open.push(next);
      expected = next === "{" ? "nameOrEnd" : "valueOrEnd";
      at += 1;
    } else if (
      (next === "}" && open.at(-1) === "{" && (expected === "nameOrEnd" || expected === "commaOrEnd")) ||
      (next === "]" && open.at(-1) === "[" && (expected === "valueOrEnd" || expected === "commaOrEnd"))
    ) {
      open.pop();
      expected = afterValue();
      at += 1;
    } else if (expected === "value" || expected === "valueOrEnd") {
      if (!take(next === '"' ? string : literal)) return brokenAt(text, at);
      expected = afterValue();
    } else if ((expected === "name" || expected === "nameOrEnd") && next === '"') {
      if (!take(string)) return brokenAt(text, at);
      expected = "colon";
    } else if (expected === "colon" && next === ":") {
      expected = "value";
      at += 1;
    } else if (expected === "commaOrEnd" && next === ",") {
      expected = open.at(-1) === "{" ? "name" : "value";
      at += 1;
    } else return at;
  }
}

/** The position of the error in a string, number or word that begins at `start`. */
function brokenAt(text: string, start: number): number {
  if (text[start] !== '"') {
    const word = ["true", "false", "null"].find((known) => known.startsWith(text.slice(start)));
    return word === undefined && text.slice(start) !== "-" ? start : text.length;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in a string.
  const good = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
  good.lastIndex = start + 1;
  good.test(text);
  return good.lastIndex;
}

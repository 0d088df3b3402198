import { escapeHtml } from "./layout.ts";

/**
 * Highlights samples when the page is rendered: this needs no script and no package (the smallest with these
 * languages has 2 MB). It recognizes comments, strings, numbers and keywords, but does not parse.
 */
export function highlight(code: string, language: string): string {
  const grammar = grammars[language];
  if (grammar === undefined) return escapeHtml(code);
  let html = "";
  let at = 0;
  for (const match of code.matchAll(grammar)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    html += escapeHtml(code.slice(at, match.index));
    html +=
      kind === undefined ? escapeHtml(match[0]) : `<span class="${kind}">${escapeHtml(match[0])}</span>`;
    at = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(at));
}

const string = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const number = String.raw`\b(?:0x[0-9a-f]+|\d[\d_]*(?:\.\d+)?)\b`;

function grammar(comment: string, words: string, texts = string): RegExp {
  const keyword = words === "" ? "(?!)" : String.raw`\b(?:${words.trim().replaceAll(/\s+/g, "|")})\b`;
  return new RegExp(
    `(?<comment>${comment})|(?<string>${texts})|(?<keyword>${keyword})|(?<number>${number})`,
    "gim",
  );
}

const slashes = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`;
const hash = String.raw`(?<=^|\s)#[^\n]*`;
const script = grammar(
  slashes,
  `import from export const let function async await return if else for of in new throw class extends typeof type
   null undefined true false try catch finally while as satisfies switch case default`,
  `${string}|\`(?:[^\`\\\\]|\\\\.)*\``,
);
const shell = grammar(
  hash,
  "if then else fi for in do done while export function curl node npm openssl python3 go java php dotnet echo kill exit",
  String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`,
);
const grammars: Readonly<Record<string, RegExp>> = {
  sh: shell,
  js: script,
  ts: script,
  tsx: script,
  vue: script,
  yaml: grammar(hash, ""),
  json: /(?<keyword>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\\n]|\\.)*")|(?<number>-?\b\d[\d.e+-]*\b|\b(?:true|false|null)\b)/g,
  python: grammar(
    hash,
    "import from def return if elif else for in not and or is None True False with as raise class try except lambda assert async await",
    `"""[\\s\\S]*?"""|${string}`,
  ),
  go: grammar(
    slashes,
    "package import func return if else for range var const type struct map string int error nil true false defer switch case",
    `${string}|\`[^\`]*\``,
  ),
  java: grammar(
    slashes,
    "package import public private static final class new return if else for throw throws void int long byte String null true false try catch record var",
  ),
  php: grammar(
    `${slashes}|${hash}`,
    "php function return if else foreach as new throw use namespace require null true false static public private",
  ),
  ruby: grammar(
    hash,
    "require require_relative def end return if unless else elsif do nil true false raise class module new and or not",
  ),
  csharp: grammar(
    slashes,
    "using namespace public private static class new return if else foreach in throw void int long byte string var null true false try catch is out",
  ),
  sql: grammar(
    String.raw`--[^\n]*`,
    "select from where and or insert into update set delete create table index on order by limit",
  ),
};

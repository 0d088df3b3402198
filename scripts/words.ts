/**
 * Counts sentences over 30 words and words to avoid in guides, records, comments and messages, and prints the
 * worst. A report for authors: it never fails. `npm run words -- PART` reports on paths with PART only.
 */
import { globSync, readFileSync } from "node:fs";

const root = new URL("../", import.meta.url).pathname;
const longest = 30;
const shown = 20;

type Kind = "guide" | "record" | "comment" | "message";
type Piece = { kind: Kind; at: string; text: string };
type Finding = { kind: Kind; at: string; words: number; listed: string[]; sentence: string };

/** Words of CONTRIBUTING.md's advice. A listed word counts as much as five words too many. */
const listedWords: readonly RegExp[] = [
  /\bwho(?:m)?ever\b/i,
  /\bnobody\b/i,
  /\banew\b/i,
  /\b(?:is|are|was|were|be|being) told\b/i,
  /\btells? (?:whether|of|about)\b/i,
  /\b(?:Half|Twice)(?:\b[^.:]*)?:/,
  /\bset aside\b/i,
  /\b(?:passage|stretch|standing)\b/i,
  /\bof (?:its|our|their|your|his) own\b/i,
];
const penalty = 5;

/** The sentences of a text. Rows of a table and points of a list end as sentences do. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/\]\([^)]*\)/g, "]")
    .split(/(?<=[.!?:]\**)\s+(?=["“(`[*A-Z0-9])|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s|\s?\|\s?/)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length;

/** Prose of a page: without code, generated parts and headings. */
function proseOf(page: string): string {
  return page
    .replace(/<!-- generated: [\s\S]*?<!-- end of generated -->/g, "")
    .replace(/<!-- measured: [\s\S]*?<!-- end of measured -->/g, "")
    .replace(/^ *```[\s\S]*?^ *```$/gm, "")
    .replace(/^(?: {4}|\t).*$/gm, "")
    .replace(/^#+ .*$/gm, "");
}

/** Pages to look something up. */
const isReference = (file: string) =>
  /(?:errors|configuration|verify-protocol|accessibility)\.md$/.test(file);

function piecesOfPage(file: string): Piece[] {
  const kind = file.startsWith("docs/decisions/0") ? "record" : "guide";
  return [{ kind, at: file, text: proseOf(readFileSync(root + file, "utf8")) }];
}

/** Comments and messages of a source file. A message is a literal that reads like a sentence. */
function piecesOfSource(file: string): Piece[] {
  const source = readFileSync(root + file, "utf8");
  const token =
    /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/gm;
  return [...source.matchAll(token)].flatMap(({ 0: found, index }): Piece[] => {
    const at = `${file}:${source.slice(0, index).split("\n").length}`;
    if (found.startsWith("/"))
      return [{ kind: "comment", at, text: found.replace(/^\s*(?:\/\*\*?|\*\/?|\/\/)|\*\/$/gm, "") }];
    const isSentence = /^.[A-Z][^<]*[a-z]{2} [a-z]{2,} [^<]*[.!?]/s.test(found);
    return isSentence ? [{ kind: "message", at, text: found.slice(1, -1).replaceAll("\n", "\n\n") }] : [];
  });
}

/** Texts of people's pages and of mails, in English. */
function piecesOfTexts(file: string): Piece[] {
  const texts: Piece[] = [];
  JSON.parse(readFileSync(root + file, "utf8"), (key, value) => {
    if (typeof value === "string") texts.push({ kind: "message", at: `${file} ${key}`, text: value });
    return value;
  });
  return texts;
}

const weightOf = ({ words, listed }: Finding) => Math.max(0, words - longest) + penalty * listed.length;

/** The sentences that are too long or hold a listed word, the worst first. */
export function findIn(pieces: readonly Piece[]): Finding[] {
  return pieces
    .flatMap(({ kind, at, text }) =>
      sentencesOf(text).flatMap((sentence): Finding[] => {
        const words = wordsIn(sentence);
        const listed = listedWords.flatMap((word) => word.exec(sentence)?.[0] ?? []);
        return words > longest || listed.length > 0 ? [{ kind, at, words, listed, sentence }] : [];
      }),
    )
    .sort((a, b) => weightOf(b) - weightOf(a));
}

function collect(part: string): Piece[] {
  const filesOf = (patterns: string[]) =>
    globSync(patterns, { cwd: root, exclude: (name) => /node_modules|dist$/.test(name) })
      .filter((file) => file.includes(part))
      .sort();
  return [
    ...filesOf(["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md"]).flatMap(piecesOfPage),
    ...filesOf(["{apps,packages}/*/src/**/*.{ts,tsx}", "scripts/**/*.ts"]).flatMap(piecesOfSource),
    ...filesOf(["apps/*/{texts,wallet-texts}/**/en.json"]).flatMap(piecesOfTexts),
  ];
}

function report(part: string): string[] {
  const pieces = collect(part);
  const findings = findIn(pieces);
  const rows = (["guide", "record", "comment", "message"] as const).map((kind) => {
    const all = pieces.filter((piece) => piece.kind === kind);
    const found = findings.filter((finding) => finding.kind === kind);
    const figures = [
      all.reduce((sum, { text }) => sum + wordsIn(text), 0),
      found.filter(({ words }) => words > longest).length,
      found.filter(({ words }) => words > 38).length,
      found.reduce((sum, { listed }) => sum + listed.length, 0),
      all.filter(({ text }) => wordsIn(text) > longest).length,
    ];
    const widths = [8, 19, 9, 14, 21];
    return `${`${kind}s`.padEnd(10)}${figures.map((n, i) => String(n).padStart(widths[i] ?? 0)).join("")}`;
  });
  const long = pieces.filter(
    ({ kind, at, text }) => kind === "guide" && !isReference(at) && wordsIn(text) > 1500,
  );
  return [
    "             words  sentences over 30  over 38  listed words  texts over 30 words",
    ...rows,
    `\nGuides over 1,500 words: ${long.map(({ at, text }) => `${at} (${wordsIn(text)})`).join(", ") || "none"}`,
    `\nThe worst ${shown}:`,
    ...findings.slice(0, shown).map(({ at, words, listed, sentence }) => {
      const marks = listed.length > 0 ? `, “${listed.join("”, “")}”` : "";
      return `\n${at} (${words} words${marks})\n  ${sentence.slice(0, 300)}`;
    }),
  ];
}

if (import.meta.main) process.stdout.write(`${report(process.argv[2] ?? "").join("\n")}\n`);

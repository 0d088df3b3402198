/** A part of a text that is written in Markdown. */
type TextBlock =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "paragraph"; readonly text: string };

/**
 * Headings, lists and paragraphs, the only forms that terms have. Other Markdown stays a paragraph with every
 * character: a person who accepts a text must see all of it.
 */
export function textBlocks(text: string): TextBlock[] {
  return text
    .split(/\r?\n/)
    .map((line) => (/^#{1,4} /.test(line) ? `\n${line}\n` : line))
    .join("\n")
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== "")
    .map(blockOf);
}

function blockOf(block: string): TextBlock {
  const heading = /^(#{1,4}) (.*)$/.exec(block);
  if (heading !== null) return { kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" };
  if (/^[-*] /.test(block))
    return { kind: "list", items: block.split(/\n(?=[-*] )/).map((item) => inOneLine(item.slice(2))) };
  return { kind: "paragraph", text: inOneLine(block) };
}

function inOneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}

import type { Texts } from "./messages.ts";

/**
 * A pseudo-language for development: every text is a third longer, with accents and brackets. It reveals
 * texts that are cut off, too narrow or hard-coded. `/verify/…?pseudo` of the development server shows it.
 */
export function pseudoTexts(texts: Texts): Texts {
  const read = (value: unknown): unknown =>
    typeof value === "string"
      ? pseudoText(value)
      : Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, read(inner)]));
  return read(texts) as Texts;
}

const accents: Readonly<Record<string, string>> = {
  a: "á",
  e: "é",
  i: "í",
  o: "ö",
  u: "ü",
  n: "ñ",
  c: "ç",
  s: "š",
  y: "ý",
};

function pseudoText(text: string): string {
  const bent = text.replace(/\{\w+\}|[aeiouncsy]/g, (part) => accents[part] ?? part);
  return `[${bent}${"·".repeat(Math.ceil(text.length / 3))}]`;
}

/** Never in a built page: there the condition is a constant, and the code behind it is dropped. */
export function wantsPseudo(): boolean {
  return import.meta.env.DEV && new URLSearchParams(location.search).has("pseudo");
}

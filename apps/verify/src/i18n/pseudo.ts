import type { Texts } from "./messages.ts";

/**
 * A language that nobody speaks, for development: every text is a third longer, with accents on its letters and brackets around it, so that
 * what is cut off, too narrow or written into the program instead of the texts is seen. `/verify/…?pseudo` of the development server shows it.
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

/** Never in a page that was built: the condition is a constant there, and what is behind it is left out. */
export function wantsPseudo(): boolean {
  return import.meta.env.DEV && new URLSearchParams(location.search).has("pseudo");
}

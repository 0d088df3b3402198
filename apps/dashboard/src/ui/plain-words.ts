import { t } from "../i18n/words.ts";

/** `in_progress` → `in progress`. */
function spaced(name: string): string {
  return name.replaceAll("_", " ").replaceAll(".", " ");
}

/**
 * A message of the service for display. `labelOf` replaces field names in backticks by their labels. Routes
 * and links to the reference, which are for programs, are left out.
 */
export function plainWords(text: string, labelOf: (name: string) => string | null = () => null): string {
  return text
    .replace(/ ?[^.]*\/reference\b[^.]*\./g, "")
    .replace(/`([^`]+)`/g, (_whole, name: string) => {
      const label = labelOf(name);
      return t.ui.quoted(label ?? (/^[a-z][a-z0-9_.]*$/.test(name) ? spaced(name) : name));
    })
    .replace(/ ?\((?:GET|POST|PUT|PATCH|DELETE) [^)]*\)/g, "")
    .replace(/,? (?:with|by|from|through) (?:GET|POST|PUT|PATCH|DELETE)\b(?: [/…][^\s;,]*[^\s;,.])?/g, "")
    .replace(/ (?:GET|POST|PUT|PATCH|DELETE) [/…][^\s;,]*[^\s;,.]/g, "");
}

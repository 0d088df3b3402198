import { saveFile } from "./save-file.ts";

/**
 * A table as CSV (RFC 4180). Quotes protect texts where `;` or a tab separates cells. A text that could start
 * a formula gets an apostrophe in front.
 */
export function csvOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const harmless = /(?:^|[,;|\t\r\n"])\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value) ? `'${value}` : value;
  return `"${harmless.replaceAll('"', '""')}"`;
}

/** Offers a file for saving. The byte order mark shows spreadsheets that it is UTF-8. */
export function saveCsv(name: string, parts: readonly string[]): void {
  saveFile(name, "text/csv;charset=utf-8", ["\ufeff", ...parts]);
}

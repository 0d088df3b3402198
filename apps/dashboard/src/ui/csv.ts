/**
 * A table as a file for spreadsheets (RFC 4180). Every text is in quotes: where `;` or a tab separates cells, a text
 * without would begin a new one. Texts of others may begin with what a spreadsheet takes for a formula, or have it
 * after such a separator; they get an apostrophe in front, as spreadsheets themselves write it.
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

/** Offers a file for saving. The mark in front tells spreadsheets that it is UTF-8. */
export function saveCsv(name: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob(["\ufeff", ...parts], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the address over by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

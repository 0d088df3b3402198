// What can hide a semicolon in SQL: comments, strings, quoted identifiers and dollar-quoted strings.
const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;/g;

/** The statements of a migration, without comments. Supports the SQL of the migrations, not all of SQL. */
export function splitStatements(text: string): string[] {
  const plain = text.replace(pieces, (piece) =>
    piece.startsWith("--") || piece.startsWith("/*") ? " " : piece === ";" ? "\0" : piece,
  );
  return plain
    .split("\0")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

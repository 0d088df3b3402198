// What may stand in SQL and hide a semicolon: comments, texts, names in quotes, and texts between dollars, whose tag ends them.
const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;/g;

/** The statements of a migration, without their comments. It knows what migrations are written in, not all of SQL. */
export function splitStatements(text: string): string[] {
  const plain = text.replace(pieces, (piece) =>
    piece.startsWith("--") || piece.startsWith("/*") ? " " : piece === ";" ? "\0" : piece,
  );
  return plain
    .split("\0")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

const writes = /\b(insert into|update|delete from)\s+([a-z_][a-z0-9_]*)/;
const reads = /\bfrom\s+([a-z_][a-z0-9_]*)/;

/**
 * What statements do to which tables, such as "insert sessions, update attempts". Contains only names from
 * their text. Statements that only begin or end a transaction are left out.
 */
export function summaryOf(texts: readonly string[]): string {
  const parts = texts.map(partOf).filter((part) => part !== null);
  const [first = "commit", second] = parts;
  const rest = parts.length - 2;
  return second === undefined ? first : `${first}, ${second}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function partOf(statement: string): string | null {
  const text = statement.toLowerCase();
  if (/^\s*(begin|commit|rollback|savepoint|release|set)\b/.test(text)) return null;
  const [, operation, written] = writes.exec(text) ?? [];
  if (operation !== undefined && written !== undefined) return `${operation.split(" ")[0]} ${written}`;
  const table = reads.exec(text)?.[1];
  return table === undefined ? "select" : `select ${table}`;
}

/**
 * The known name that the caller probably meant:
 * the one with the fewest edits, or null if there are too many.
 */
export function nearest(name: string, known: readonly string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const asked = plain(name);
  if (asked.length > 80) return null;
  const [best] = known
    .map((candidate) => ({ candidate, changes: changesBetween(asked, plain(candidate)) }))
    .sort((a, b) => a.changes - b.changes);
  return best !== undefined && best.changes <= Math.max(2, asked.length / 4) ? best.candidate : null;
}

/** Insertions, deletions and changes between the texts (Levenshtein distance). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [at, other] of [...to].entries())
      next.push(
        Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

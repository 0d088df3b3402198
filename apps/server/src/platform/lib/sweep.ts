/** The number of rows that a batch handled, and the last key that it read. */
export type Batch = { handled: number; lastKey: string };

/**
 * A keyset sweep reads rows in the order of their key, each batch after the last key of the previous one. So
 * it does not skip millions of handled rows again and again. A batch that is not full ends the pass. The next
 * one starts at the front, so that late or locked rows are read again.
 */
export function sweepInOrder(
  limit: number,
  batchAfter: (key: string) => Promise<Batch>,
): () => Promise<number> {
  let after = "";
  return async () => {
    let batch = await batchAfter(after);
    if (batch.handled === 0 && after !== "") {
      after = "";
      batch = await batchAfter(after);
    }
    after = batch.handled < limit ? "" : batch.lastKey;
    return batch.handled;
  };
}

/** The highest id, because `returning` gives rows in any order. */
export function lastOf(rows: readonly { id: string }[]): string {
  return (
    rows
      .map((row) => row.id)
      .sort()
      .at(-1) ?? ""
  );
}

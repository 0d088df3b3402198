/** How many rows a batch handled, and the last key that it looked at. */
export type Batch = { handled: number; lastKey: string };

/**
 * A keyset sweep: a job that goes through rows in the order of their key, in batches of at most `limit`, each beginning
 * after the last key of the previous batch. Beginning at the front each time would step over all rows already handled,
 * again and again, when there are millions. A batch that is not full ends the pass: the next one begins at the front, so
 * rows that came late or were locked by another process are looked at again.
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

/** The highest id. Needed because `returning` gives rows in any order. */
export function lastOf(rows: readonly { id: string }[]): string {
  return (
    rows
      .map((row) => row.id)
      .sort()
      .at(-1) ?? ""
  );
}

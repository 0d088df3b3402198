/**
 * A batch in the order of a key, after the last key of the batch before. Resuming there matters when millions of rows are
 * dealt with in one go: starting at the front each time would step over everything already dealt with, again and again.
 */
export type Batch = { handled: number; lastKey: string };

/**
 * A job that goes through keys in order. It ends only when a pass from the very beginning finds nothing, so rows that were
 * skipped because another process held them are looked at again.
 */
export function sweepInOrder(batchAfter: (key: string) => Promise<Batch>): () => Promise<number> {
  let after = "";
  return async () => {
    let batch = await batchAfter(after);
    if (batch.handled === 0 && after !== "") batch = await batchAfter("");
    after = batch.handled === 0 ? "" : batch.lastKey;
    return batch.handled;
  };
}

/** A statement that writes gives its rows back in any order. */
export function lastOf(rows: readonly { id: string }[]): string {
  return (
    rows
      .map((row) => row.id)
      .sort()
      .at(-1) ?? ""
  );
}

/** How many rows a batch handled, and the last key that it looked at. */
export type Batch = { handled: number; lastKey: string };

/**
 * A batch that was rolled back because a row in it cannot be handled; `lastKey` is the last key that it looked at.
 */
export class StuckBatch extends Error {
  readonly lastKey: string;

  constructor(lastKey: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : "a batch could not be dealt with", { cause });
    this.name = "StuckBatch";
    this.lastKey = lastKey;
  }
}

/**
 * A keyset sweep: a job that goes through rows in the order of their key, in batches of at most `largest`, each
 * beginning after the last key of the previous batch. Beginning at the front each time would step over all rows
 * already handled, again and again, when there are millions. The sweep ends only when a pass from the very beginning
 * finds nothing, so rows that were skipped because another process had locked them are looked at again.
 *
 * A row that always fails (a poison row) must not keep the others waiting: after a failure the batch size drops to
 * one and doubles from there, and a single row that fails is stepped over until the next pass.
 */
export function sweepInOrder(
  largest: number,
  batchAfter: (key: string, limit: number) => Promise<Batch>,
): () => Promise<number> {
  let after = "";
  let limit = largest;
  return async () => {
    try {
      let batch = await batchAfter(after, limit);
      if (batch.handled === 0 && after !== "") {
        after = "";
        batch = await batchAfter(after, limit);
      }
      after = batch.handled === 0 ? "" : batch.lastKey;
      limit = Math.min(largest, limit * 2);
      return batch.handled;
    } catch (error) {
      if (error instanceof StuckBatch) {
        if (limit === 1) after = error.lastKey;
        limit = 1;
      }
      throw error;
    }
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

/** What a batch did, and the last key it looked at. */
export type Batch = { handled: number; lastKey: string };

/** A batch that was rolled back because something in it cannot be dealt with; the last key says how far it reached. */
export class StuckBatch extends Error {
  readonly lastKey: string;

  constructor(lastKey: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : "a batch could not be dealt with", { cause });
    this.name = "StuckBatch";
    this.lastKey = lastKey;
  }
}

/**
 * A job that goes through keys in order, in batches of at most `largest`. Each batch begins after the one before: when
 * millions of rows are dealt with in one go, starting at the front each time would step over everything already dealt
 * with, again and again. It ends only when a pass from the very beginning finds nothing, so rows that were skipped because
 * another process held them are looked at again.
 *
 * One row that always fails must not keep the others waiting: after a failure batches start small, and a batch of one that
 * fails is stepped over until the next pass.
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

/** A statement that writes gives its rows back in any order. */
export function lastOf(rows: readonly { id: string }[]): string {
  return (
    rows
      .map((row) => row.id)
      .sort()
      .at(-1) ?? ""
  );
}

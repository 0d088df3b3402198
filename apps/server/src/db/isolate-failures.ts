import { sqlState } from "../lib/sql-state.ts";
import { isAboutData } from "./db.ts";

type Steps<T> = {
  /** Deals with all of the rows in one transaction or, where it throws, with none; returns how many there were. */
  process: (rows: readonly T[]) => Promise<number>;
  /** Called with a row that fails when it is alone. It must see to it that the row is not met again. */
  setAside: (row: T, error: unknown) => Promise<void>;
};

/**
 * One bad row must not stop the good ones (a poison message): a batch that fails is halved until the bad row is alone, and
 * that one is set aside. A bad row among n costs about 2 log₂ n transactions. Only failures that are about the data
 * count; when the database is away or a lock is lost, the rest of the batch is given up, to be tried again later.
 */
export async function isolateFailures<T>(rows: readonly T[], steps: Steps<T>): Promise<number> {
  const [first] = rows;
  if (first === undefined) return 0;
  try {
    return await steps.process(rows);
  } catch (error) {
    if (!isAboutData(error)) throw error;
    if (rows.length === 1) {
      await steps.setAside(first, error);
      return 1;
    }
  }
  const middle = Math.ceil(rows.length / 2);
  const done = await isolateFailures(rows.slice(0, middle), steps);
  return done + (await isolateFailures(rows.slice(middle), steps));
}

/** What may be stored about a failure: the state or the kind, never a message, which may quote values. */
export function failureName(error: unknown): string {
  return (sqlState(error) ?? (error instanceof Error ? error.name : typeof error)).slice(0, 60);
}

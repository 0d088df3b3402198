import { sqlState } from "../lib/sql-state.ts";
import { isAboutData } from "./errors.ts";

type Steps<T> = {
  /** Deals with all of the rows in one transaction or, where it throws, with none. */
  process: (rows: readonly T[]) => Promise<unknown>;
  /** Called with a row that fails when it is alone. It must see to it that the row is not met again. */
  setAside: (row: T, error: unknown) => Promise<void>;
};

/**
 * One bad row must not stop the good ones (a poison message): a batch that fails is halved until the bad row is alone, and
 * that one is set aside. A bad row among n costs about 2 log₂ n transactions. Only failures that are about the data
 * count; when the database is away or a lock is lost, the rest of the batch is given up, to be tried again later.
 */
export async function isolateFailures<T>(rows: readonly T[], steps: Steps<T>): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  try {
    await steps.process(rows);
    return;
  } catch (error) {
    if (!isAboutData(error)) throw error;
    if (rows.length === 1) {
      await steps.setAside(first, error);
      return;
    }
  }
  const middle = Math.ceil(rows.length / 2);
  await isolateFailures(rows.slice(0, middle), steps);
  await isolateFailures(rows.slice(middle), steps);
}

/**
 * What may be stored about a failure: the state or the kind, and where it was, as a name of our own schema or code. Never a
 * message: that of PostgreSQL quotes values, and so does that of a parser.
 */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { constraint, table } = error as { constraint?: unknown; table?: unknown };
  const parts = [sqlState(error) ?? error.name];
  if (typeof constraint === "string") parts.push(`constraint ${constraint}`);
  if (typeof table === "string") parts.push(`table ${table}`);
  const place = placeOf(error);
  if (parts.length === 1 && place !== null) parts.push(`at ${place}`);
  return parts.join(", ").slice(0, 120);
}

/** The first file of ours on the stack, with its line. The message, which comes first on it and may hold anything, is left out. */
function placeOf(error: Error): string | null {
  const stack = error.stack ?? "";
  const from = stack.indexOf(error.message);
  const frames = from === -1 ? "" : stack.slice(from + error.message.length);
  return /\/src\/[^\s:]*?([\w.-]+\.ts:\d+):\d+/.exec(frames)?.[1] ?? null;
}

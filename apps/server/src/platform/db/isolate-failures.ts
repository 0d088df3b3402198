import { sqlState } from "../lib/sql-state.ts";
import { isAboutData } from "./errors.ts";

type Steps<T> = {
  /** Processes all rows in one transaction; if it throws, none. */
  process: (rows: readonly T[]) => Promise<unknown>;
  /** Called with a row that fails alone. It must prevent that the row is taken again. */
  quarantine: (row: T, error: unknown) => Promise<void>;
};

/**
 * One bad row (a poison message) must not stop the good ones: a failed batch is halved until the bad row is
 * alone and quarantined. Among n rows that costs about 2 log₂ n transactions. Only failures caused by the
 * data count; after any other failure the rest of the batch waits for a later run.
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
      await steps.quarantine(first, error);
      return;
    }
  }
  const middle = Math.ceil(rows.length / 2);
  await isolateFailures(rows.slice(0, middle), steps);
  await isolateFailures(rows.slice(middle), steps);
}

/**
 * What may be stored about a failure: the SQLSTATE or the error's name, and a location in our schema or code.
 * Never a message: messages of PostgreSQL and of parsers quote values.
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

/**
 * The first file of ours on the stack, with its line. Skips the message, which comes first and may hold
 * personal data.
 */
function placeOf(error: Error): string | null {
  const stack = error.stack ?? "";
  const from = stack.indexOf(error.message);
  const frames = from === -1 ? "" : stack.slice(from + error.message.length);
  return /\/src\/[^\s:]*?([\w.-]+\.ts:\d+):\d+/.exec(frames)?.[1] ?? null;
}

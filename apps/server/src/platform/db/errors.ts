import pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import { isAnswerTimeout } from "./connection.ts";

const retryableStates = new Set(["40001", "40P01"]);

/** A deadlock or a serialization failure: the transaction may succeed on a retry. */
export function isRetryable(error: unknown): boolean {
  return retryableStates.has(sqlState(error) ?? "");
}

/**
 * Whether the server rejected a statement but the connection is still usable. It is unusable if the server
 * ends it (08, 57P) or a prepared statement would keep failing (0A000 after a change of its tables, 26).
 */
export function leavesConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P|0A000|26|$)/.test(error.code ?? "");
}

const lostSystemCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ENOENT", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENOTFOUND", "EAI_AGAIN"],
]);

/**
 * The database is unreachable, starting, overloaded, full or read-only: a retry may succeed. Timeouts: 57014
 * of a statement, 55P03 of a lock, 25P03 and 25P04 of a transaction. 25006 is a write to a read-only
 * database, AK001 (our triggers) a key that this process does not know yet.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  if (/^(08|57P0|53|57014|55P03|25P0[34]|25006|AK001)/.test(state)) return true;
  // A host name with several addresses fails with the errors of all of them.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnavailable);
  if (lostSystemCodes.has(state)) return (error as { syscall?: string }).syscall !== undefined;
  // Errors of the driver have no code. The last one is a statement on a connection that was already lost.
  return (
    error instanceof Error &&
    (isAnswerTimeout(error) ||
      /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|is not queryable$/.test(
        error.message,
      ))
  );
}

/**
 * Whether the data caused the failure, so that a retry would fail again: PostgreSQL rejects it (classes 22,
 * 23, 44, 54), a trigger rejects it (P0), or our code cannot process it. All other errors of the database
 * (locks, resources, an operator, a missing table) and failed system calls are temporary.
 */
export function isAboutData(error: unknown): boolean {
  if (isUnavailable(error)) return false;
  if (error instanceof pg.DatabaseError) return /^(22|23|44|54|P0)/.test(error.code ?? "");
  return error instanceof Error && !("syscall" in error);
}

/** True if `error` is a violation of the named unique constraint or index. */
export function violates(error: unknown, constraint: string): boolean {
  return sqlState(error) === "23505" && (error as pg.DatabaseError).constraint === constraint;
}

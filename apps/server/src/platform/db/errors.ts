import pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import { isSilence } from "./connection.ts";

const retryableStates = new Set(["40001", "40P01"]);

/** A deadlock or a serialization failure: the same transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return retryableStates.has(sqlState(error) ?? "");
}

/**
 * Whether the server refused a statement and is ready for the next one on the same connection. Not where it ends the
 * connection (classes 08 and 57P), nor where a prepared statement would fail again for as long as the connection lives
 * (0A000 after its tables changed, class 26).
 */
export function leavesConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P|0A000|26|$)/.test(error.code ?? "");
}

const lostSystemCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ENOENT", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENOTFOUND", "EAI_AGAIN"],
]);

/**
 * The database is away, starting, overloaded, full or read-only for now: the same work may succeed in a moment. Besides whole
 * classes of SQLSTATE: 57014 is a statement that took too long, 55P03 a lock that was not free in time, 25P03 and 25P04 a
 * transaction that was ended for its age, 25006 a write on a read-only database, AK001 is of our own triggers: this
 * process has yet to learn of a new key.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  if (/^(08|57P0|53|57014|55P03|25P0[34]|25006|AK001)/.test(state)) return true;
  // A name with several addresses fails with all of their errors.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnavailable);
  if (lostSystemCodes.has(state)) return (error as { syscall?: string }).syscall !== undefined;
  // What the driver says has no code. The last is a statement on a connection that was lost before it.
  return (
    error instanceof Error &&
    (isSilence(error) ||
      /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|is not queryable$/.test(
        error.message,
      ))
  );
}

/**
 * Whether work failed because of the data that it was about, so that it would fail again: data that the database refuses
 * (classes 22, 23, 44, 54), that a trigger refuses (P0), or that our own code cannot deal with. Everything else that
 * the database reports (locks, resources, an operator, a missing table) and every failed call of the operating system
 * is about the circumstances.
 */
export function isAboutData(error: unknown): boolean {
  if (isUnavailable(error)) return false;
  if (error instanceof pg.DatabaseError) return /^(22|23|44|54|P0)/.test(error.code ?? "");
  return error instanceof Error && !("syscall" in error);
}

/** True when `error` says that the named unique constraint or index would have been violated. */
export function violates(error: unknown, constraint: string): boolean {
  return sqlState(error) === "23505" && (error as pg.DatabaseError).constraint === constraint;
}

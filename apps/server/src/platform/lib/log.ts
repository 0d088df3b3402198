import { createHash } from "node:crypto";
import { idLengths } from "@assay/contract/facts";
import type { LogField } from "./log-fields.ts";
import { sqlState } from "./sql-state.ts";

type LogLevel = "debug" | "info" | "warn" | "error";
const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * Values that may be logged: names, counts and identifiers. Never a body, token, claim, query string or
 * address.
 */
export type LogFields = { [K in LogField]?: string | number | boolean | null | undefined };

/** Rejects fields that are not in the table, also if they come from another object. */
type Known<F> = F & { [K in Exclude<keyof F, LogField>]: never };

type Write = <F extends LogFields>(message: string, fields?: Known<F>) => void;

export type Log = { debug: Write; info: Write; warn: Write; error: Write };

const sessionId = new RegExp(`vs_[A-Za-z0-9]{${idLengths.vs}}`, "g");

/**
 * The id of a session grants access to the verify page, and more people read logs. So ids are replaced by a
 * hash, which is the same in all lines about a session.
 */
export function withoutSessionIds(text: string): string {
  return text.replaceAll(
    sessionId,
    (id) => `vs#${createHash("sha256").update(id).digest("hex").slice(0, 12)}`,
  );
}

export function createLog(options: {
  level: LogLevel;
  write: (line: string) => void;
  now: () => Date;
  pretty?: boolean;
}): Log {
  const threshold = levels.indexOf(options.level);
  const emit = (level: LogLevel, message: string, fields: LogFields = {}) => {
    if (levels.indexOf(level) < threshold) return;
    const time = options.now().toISOString();
    const write = (line: string) => options.write(withoutSessionIds(line));
    if (options.pretty) {
      const rest = Object.entries(fields)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ` ${name}=${value}`)
        .join("");
      write(`${time.slice(11, 23)} ${level.padEnd(5)} ${message}${rest}\n`);
    } else {
      write(`${JSON.stringify({ time, level, message, ...fields })}\n`);
    }
  };
  return {
    debug: (message, fields) => emit("debug", message, fields),
    info: (message, fields) => emit("info", message, fields),
    warn: (message, fields) => emit("warn", message, fields),
    error: (message, fields) => emit("error", message, fields),
  };
}

/**
 * The parts of an error that may be logged. PostgreSQL quotes values in its messages, so of its errors only
 * the SQLSTATE and the names of tables and constraints are kept. Of other errors the message and the location
 * are kept.
 */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const state = sqlState(error);
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const place = frames
    .slice(0, 6)
    .map((line) => line.trim())
    .join(" | ");
  if (state !== undefined && "severity" in error) {
    const database = error as { constraint?: string; table?: string; routine?: string };
    return {
      error: "DatabaseError",
      sqlState: state,
      constraint: database.constraint,
      table: database.table,
      routine: database.routine,
      place,
    };
  }
  return { error: error.name, code: state, reason: error.message, place };
}

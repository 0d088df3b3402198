import { sqlState } from "./sql-state.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Values that may be logged: names, counts and identifiers. Never a body, token, claim, query string or address. */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

export type Log = {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  with(fields: LogFields): Log;
};

export function createLog(options: {
  level: LogLevel;
  write: (line: string) => void;
  now: () => Date;
  pretty?: boolean;
  fields?: LogFields;
}): Log {
  const threshold = levels.indexOf(options.level);
  const emit = (level: LogLevel, message: string, fields: LogFields = {}) => {
    if (levels.indexOf(level) < threshold) return;
    const time = options.now().toISOString();
    const all = { ...options.fields, ...fields };
    if (options.pretty) {
      const rest = Object.entries(all)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ` ${name}=${value}`)
        .join("");
      options.write(`${time.slice(11, 23)} ${level.padEnd(5)} ${message}${rest}\n`);
    } else {
      options.write(`${JSON.stringify({ time, level, message, ...all })}\n`);
    }
  };
  return {
    debug: (message, fields) => emit("debug", message, fields),
    info: (message, fields) => emit("info", message, fields),
    warn: (message, fields) => emit("warn", message, fields),
    error: (message, fields) => emit("error", message, fields),
    with: (fields) => createLog({ ...options, fields: { ...options.fields, ...fields } }),
  };
}

/**
 * The parts of an error that may be logged. PostgreSQL quotes values in its messages and details, so of its errors
 * only the SQLSTATE and the names of tables and constraints are kept; of other errors the message and the place.
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

import pg from "pg";

/** How long anything on a connection may take. Zero leaves a limit of the server's to the server's own configuration. */
export type TimeLimits = {
  /** One statement. */
  statementMs: number;
  /** Waiting for one lock. */
  lockMs: number;
  /** An open transaction that sends nothing. */
  idleInTransactionMs: number;
  /** Until a new connection is there, or one of the pool is free. */
  connectMs: number;
};

/** For commands that somebody watches, and may end. */
export const patientLimits: TimeLimits = {
  statementMs: 600_000,
  lockMs: 60_000,
  idleInTransactionMs: 600_000,
  connectMs: 10_000,
};

// The server ends a statement at its limit and says so. Whoever has heard nothing this much later is talking to a host that is
// gone, or to a network that drops packets. Half of it, and a busy process takes an answer that waits to be read for silence.
const silenceAfterMs = 3_000;

/** How long a client waits for the answer to a statement before it takes the server for gone; 0 for ever. */
export function answerLimitMs(statementMs: number): number {
  return statementMs === 0 ? 0 : statementMs + silenceAfterMs;
}

export type ConnectionOptions = {
  /**
   * A pooler is in between that lends a connection of the server for one transaction after the other. It takes no `options`; the limits that the server
   * keeps are sent with each transaction instead (`limitsOf`).
   */
  pooled?: boolean;
  /** How long the answer to a statement is waited for, in place of what follows from the limits. */
  answerMs?: number;
};

/** A connection with these limits. They travel in the `options` of the startup message, so they cost no round trip. */
export function connectionTo(
  url: string,
  name: string,
  limits: TimeLimits,
  { pooled = false, answerMs = answerLimitMs(limits.statementMs) }: ConnectionOptions = {},
): pg.ClientConfig {
  const ours = [
    `-c statement_timeout=${limits.statementMs}`,
    `-c lock_timeout=${limits.lockMs}`,
    `-c idle_in_transaction_session_timeout=${limits.idleInTransactionMs}`,
  ].join(" ");
  const base: pg.ClientConfig = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: answerMs,
    // A connection that is only listened on, or idle in the pool, is asked for a sign of life.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  if (pooled) return base;
  const parsed = URL.parse(url);
  const theirs = parsed?.searchParams.get("options") ?? null;
  if (parsed === null || theirs === null) return { ...base, options: ours };
  // The driver takes what the URL says over what it is given. Of two values for a parameter the server takes the last.
  parsed.searchParams.set("options", `${ours} ${theirs}`);
  return { ...base, connectionString: parsed.href };
}

/**
 * Sets the limits for the transaction that it is sent in, which may be a single message without `begin`. Through a pooler they can be set in no other way that holds:
 * it refuses or drops what a connection is opened with, and the next transaction may have another connection of the server, with what somebody else left there.
 */
export function limitsOf({ statementMs, lockMs, idleInTransactionMs }: TimeLimits): string {
  const limits = {
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  };
  const set = Object.entries(limits).map(([name, ms]) => `set_config('${name}', '${Math.trunc(ms)}', true)`);
  return `select ${set.join(", ")}`;
}

/** What the driver says when no answer came in time. */
export const silenceMessage = "Query read timeout";

/** No answer came in time. Nobody knows what became of the statement, and the connection is of no use any more. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === silenceMessage;
}

/**
 * Ends a connection without a word to the other side, which may not be there to hear it. Statements that wait on it fail at
 * once, and its socket does not keep the process from ending.
 */
export function cutOff(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Ends a connection in order, and without waiting long for a server that does not answer. */
export async function endConnection(client: pg.Client): Promise<void> {
  const deadline = setTimeout(() => cutOff(client), 1_000);
  await client.end().catch(() => {});
  clearTimeout(deadline);
}

/** One open connection. `prepare` gets it before it is opened. */
export async function openConnection(
  url: string,
  name: string,
  limits: TimeLimits,
  options: ConnectionOptions & { prepare?: (client: pg.Client) => void } = {},
): Promise<pg.Client> {
  const client = new pg.Client(connectionTo(url, name, limits, options));
  // A lost connection makes the next statement fail; without a listener it would end the process.
  client.on("error", () => {});
  options.prepare?.(client);
  try {
    await client.connect();
    return client;
  } catch (error) {
    cutOff(client);
    throw error;
  }
}

import pg from "pg";

/** Time limits of a connection. With zero, the configuration of the server applies. */
export type TimeLimits = {
  statementMs: number;
  /** Waiting for one lock. */
  lockMs: number;
  /** An open transaction that is idle. */
  idleInTransactionMs: number;
  /** Until a new connection is open, or one of the pool is free. */
  connectMs: number;
};

/** For commands that a person watches and can interrupt. */
export const patientLimits: TimeLimits = {
  statementMs: 600_000,
  lockMs: 60_000,
  idleInTransactionMs: 600_000,
  connectMs: 10_000,
};

// The server cancels a statement at its limit and reports it. Without any answer this much later, the host or
// the network is gone. With half of it, a busy process would mistake a received but unread answer for
// silence.
const silenceAfterMs = 3_000;

/** How long a client waits for an answer before it treats the server as gone; 0 waits forever. */
export function answerLimitMs(statementMs: number): number {
  return statementMs === 0 ? 0 : statementMs + silenceAfterMs;
}

export type ConnectionOptions = {
  /**
   * The connection leads through a pooler in transaction mode. It rejects `options`, so each transaction sets
   * the limits instead (`limitsOf`).
   */
  pooled?: boolean;
  /** How long to wait for the answer to a statement, instead of the time derived from the limits. */
  answerMs?: number;
};

/**
 * A connection with these limits. They are sent in the `options` of the startup message, so they cost no
 * round trip.
 */
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
    // TCP keepalive for connections that only listen or are idle in the pool.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  if (pooled) return base;
  const parsed = URL.parse(url);
  const theirs = parsed?.searchParams.get("options") ?? null;
  if (parsed === null || theirs === null) return { ...base, options: ours };
  // The driver prefers the URL over its arguments. Of two values for a parameter the server takes the last.
  parsed.searchParams.set("options", `${ours} ${theirs}`);
  return { ...base, connectionString: parsed.href };
}

/**
 * Sets the limits for one transaction, which may be a single message without `begin`. Through a pooler
 * nothing else works: it rejects or drops startup parameters, and the next transaction may get another server
 * connection.
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

/** The driver's message when no answer came in time. */
export const answerTimeoutMessage = "Query read timeout";

/** No answer came in time. The outcome of the statement is unknown, and the connection is unusable. */
export function isAnswerTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === answerTimeoutMessage;
}

/**
 * Closes the socket without a terminate message, because the server may be gone. Pending statements fail at
 * once, and the socket does not keep the process alive.
 */
export function destroySocket(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Closes a connection in order, but does not wait long for a server that does not answer. */
export async function endConnection(client: pg.Client): Promise<void> {
  const deadline = setTimeout(() => destroySocket(client), 1_000);
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
  // A lost connection makes the next statement fail. Without a listener the event would end the process.
  client.on("error", () => {});
  options.prepare?.(client);
  try {
    await client.connect();
    return client;
  } catch (error) {
    destroySocket(client);
    throw error;
  }
}

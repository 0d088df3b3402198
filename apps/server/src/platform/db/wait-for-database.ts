import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { ExplainedError } from "../lib/explained-error.ts";
import { describeError, type LogFields } from "../lib/log.ts";
import { endConnection, openConnection, type TimeLimits } from "./connection.ts";
import { isUnavailable } from "./errors.ts";
import { findPooler } from "./pooler.ts";

/** Reports to an operator what the process waits for. */
export type Warn = (message: string, fields: LogFields) => void;

const tryEveryMs = 500;
const warnEveryMs = 5_000;

const needsSession =
  "runs in transaction mode, so locks and notifications get lost. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself. Migrations and notifications use it, everything else uses DATABASE_URL.";

/**
 * Opens a direct connection as soon as possible. A database that starts together with the service, or fails
 * over, is not available at once. Errors that waiting cannot solve (a wrong password, a missing database) are
 * thrown.
 */
export async function connectWithRetry(
  url: string,
  options: { name: string; limits: TimeLimits; waitMs: number; warn: Warn },
): Promise<pg.Client> {
  const startedAt = performance.now();
  let warnAt = 0;
  for (;;) {
    try {
      return await openSession(() => openConnection(url, options.name, options.limits));
    } catch (error) {
      if (error instanceof ExplainedError) throw error;
      const waitedMs = performance.now() - startedAt;
      if (isPoolersRefusal(error) || !isUnavailable(error)) throw refusalOf(error);
      if (waitedMs + tryEveryMs > options.waitMs) {
        throw new ExplainedError(
          `The database does not answer: ${reasonOf(error)}. Waited for ${Math.round(waitedMs / 1000)} seconds. Check DATABASE_URL and that the server runs. DATABASE_START_WAIT_SECONDS sets how long a start waits.`,
          { cause: error },
        );
      }
      if (waitedMs >= warnAt) {
        warnAt = waitedMs + warnEveryMs;
        options.warn("the database does not answer yet; waiting", {
          waitedSeconds: Math.round(waitedMs / 1000),
          limitSeconds: Math.round(options.waitMs / 1000),
          ...describeError(error),
        });
      }
      await wait(tryEveryMs);
    }
  }
}

async function openSession(open: () => Promise<pg.Client>): Promise<pg.Client> {
  const client = await open();
  let isSession = false;
  try {
    isSession = (await findPooler(client, open)) !== "transaction";
  } finally {
    if (!isSession) await endConnection(client);
  }
  if (isSession) return client;
  throw new ExplainedError(`A pooler in front of the database ${needsSession}`);
}

/** PgBouncer rejects `options`, which a direct connection uses. */
function isPoolersRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /startup parameter/.test(error.message);
}

/** The server's reason for a refused connection, as a sentence; any other error unchanged. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  if (isPoolersRefusal(error))
    return new ExplainedError(
      `The database refuses the connection: ${error.message}. A pooler is in front of it. If it ${needsSession}`,
      { cause: error },
    );
  return new ExplainedError(`The database refuses the connection: ${error.message}.`, { cause: error });
}

function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}

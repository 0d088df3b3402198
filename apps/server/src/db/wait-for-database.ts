import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { describeError, type LogFields } from "../lib/log.ts";
import { connectionTo, cutOff, type TimeLimits } from "./connection.ts";
import { isUnavailable } from "./db.ts";

/** Says in a sentence why there is no database, for whoever started the service. */
export class DatabaseUnreachableError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = "DatabaseUnreachableError";
  }
}

/** Tells an operator what is waited for. */
export type Tell = (message: string, fields: LogFields) => void;

const tryEveryMs = 500;
const tellEveryMs = 5_000;

/**
 * A connection as soon as there is one. A database that is started together with the service, or is being moved to another host,
 * is not there at once; whatever says that waiting is of no use (a wrong password, a database that does not exist) is thrown.
 */
export async function connectWhenThere(
  url: string,
  options: { name: string; limits: TimeLimits; waitMs: number; tell: Tell },
): Promise<pg.Client> {
  const startedAt = performance.now();
  let tellAt = 0;
  for (;;) {
    const client = new pg.Client(connectionTo(url, options.name, options.limits));
    // A lost connection makes the next statement fail, which is reported; without a listener it would end the process.
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      cutOff(client);
      const waitedMs = performance.now() - startedAt;
      if (!isUnavailable(error)) throw refusalOf(error);
      if (waitedMs + tryEveryMs > options.waitMs) {
        throw new DatabaseUnreachableError(
          `The database does not answer: ${reasonOf(error)}. Waited for ${Math.round(waitedMs / 1000)} seconds. Check DATABASE_URL and whether the server runs; DATABASE_START_WAIT_SECONDS says how long a start waits.`,
          error,
        );
      }
      if (waitedMs >= tellAt) {
        tellAt = waitedMs + tellEveryMs;
        options.tell("the database does not answer yet, waiting for it", {
          waitedSeconds: Math.round(waitedMs / 1000),
          limitSeconds: Math.round(options.waitMs / 1000),
          ...describeError(error),
        });
      }
      await wait(tryEveryMs);
    }
  }
}

/** What the server itself gives as the reason not to let us in, as a sentence; anything else as it is. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const hint = /startup parameter/.test(error.message)
    ? " A pooler is in between: let it pass `options` (PgBouncer: ignore_startup_parameters = options)."
    : "";
  return new DatabaseUnreachableError(`The database refuses the connection: ${error.message}.${hint}`, error);
}

function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}

import type { Socket } from "node:net";
import pg from "pg";
import {
  type ConnectionOptions,
  destroySocket,
  endConnection,
  isAnswerTimeout,
  openConnection,
} from "./connection.ts";
import type { Db } from "./db.ts";
import { appliedMigrations, type Migration } from "./migrate.ts";
import { type AppliedMigration, describeSchemaProblem, schemaProblem } from "./schema-version.ts";

// Load balancers give up on a probe after some seconds, so a later answer is useless.
const limitMs = 2_000;
const limits = { statementMs: limitMs, lockMs: limitMs, idleInTransactionMs: limitMs, connectMs: limitMs };

/** A connection that got no answer, and the connections of the pool that were open at the time. */
type Silence = { client: pg.Client; bytesRead: number; open: ReadonlySet<pg.PoolClient> };

type State = { standby: boolean; read_only: boolean; applied: AppliedMigration[] };

/**
 * Checks for load balancers whether the database can serve this process, on a separate connection, so that
 * the answer does not wait behind requests. If the server is silent on it but answers on a new one, the pool
 * closes its old connections.
 * A probe writes nothing. It looks for a full disk only after a write has failed with `disk_full`: a query
 * beyond `work_mem` makes the server write a temporary file. A successful write would prove nothing, because
 * writes into existing pages still succeed on a full disk.
 */
export class DatabaseProbe {
  readonly #url: () => string;
  readonly #db: Db;
  readonly #migrations: readonly Migration[];
  readonly #options: ConnectionOptions;
  #client: pg.Client | null = null;
  #asking: Promise<string | null> | null = null;
  #silence: Silence | null = null;
  #isClosed = false;

  /** `migrations`: those that this code contains. */
  constructor(url: () => string, db: Db, migrations: readonly Migration[], options: ConnectionOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.#db = db;
    this.#migrations = migrations;
  }

  /** Why the process is not ready, in words, or null. Concurrent probes share one answer. */
  problem(): Promise<string | null> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<string | null> {
    const open = this.#db.pool.openConnections;
    const { client, bytesRead } = { client: this.#client, bytesRead: bytesReadOn(this.#client) };
    try {
      const problem = await this.#ask();
      this.#judgeSilence();
      return problem;
    } catch (error) {
      if (client !== null && client === this.#client && isAnswerTimeout(error) && this.#silence === null) {
        // Kept open: a late answer still arrives on it.
        this.#client = null;
        this.#silence = { client, bytesRead, open };
        // The next probe of a load balancer may be seconds away.
        setImmediate(() => {
          if (!this.#isClosed) void this.problem();
        });
      } else this.#drop();
      return "the database does not answer";
    }
  }

  /** A new connection was answered. An older one that has received nothing until now is silent, not slow. */
  #judgeSilence(): void {
    if (this.#silence === null) return;
    const { client, bytesRead, open } = this.#silence;
    this.#silence = null;
    if (bytesReadOn(client) === bytesRead) this.#db.pool.closeSilent(open);
    destroySocket(client);
  }

  async #ask(): Promise<string | null> {
    const refused = this.#db.pool.refusedWrite;
    // A read-only setting may apply only to new connections, or a new connection may reach another server.
    if (refused === "read_only") this.#drop();
    const client = await this.#connect();
    const { rows } = await client.query<State>(
      `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only,
         (select json_agg(applied) from (${appliedMigrations.text}) applied) as applied`,
    );
    const [state] = rows;
    if (state === undefined) throw new Error("no answer");
    if (state.standby) return "the database is a standby and read-only";
    if (state.read_only) return "the database is read-only";
    const schema = schemaProblem(this.#migrations, state.applied);
    if (schema !== null) return describeSchemaProblem(schema);
    if (refused === "disk_full" && !(await hasDiskSpace(client))) return "the disk of the database is full";
    if (refused !== null) this.#db.pool.forgetRefusedWrite(refused);
    return null;
  }

  async #connect(): Promise<pg.Client> {
    if (this.#client !== null) return this.#client;
    return openConnection(this.#url(), "assay readiness", limits, {
      ...this.#options,
      answerMs: limitMs,
      prepare: (tried) => {
        tried.on("error", () => {
          if (this.#client === tried) this.#client = null;
        });
        // Stored at once, so that it is closed if the limit comes first.
        this.#client = tried;
      },
    });
  }

  #drop(): void {
    if (this.#client !== null) destroySocket(this.#client);
    this.#client = null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#silence !== null) destroySocket(this.#silence.client);
    if (this.#client !== null) await endConnection(this.#client);
  }
}

function bytesReadOn(client: pg.Client | null): number {
  return (client?.connection.stream as Socket | undefined)?.bytesRead ?? 0;
}

async function hasDiskSpace(client: pg.Client): Promise<boolean> {
  try {
    // One message is one transaction, and the setting ends with it: the connection may be a pooler's.
    await client.query(
      "select set_config('work_mem', '64kB', true); select count(*) from generate_series(1, 200000)",
    );
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code?.startsWith("53")) return false;
    throw error;
  }
}

import type { Socket } from "node:net";
import pg from "pg";
import { type ConnectionOptions, cutOff, endConnection, isSilence, openConnection } from "./connection.ts";
import type { Db } from "./db.ts";
import { appliedMigrations, type Migration } from "./migrate.ts";
import { type AppliedMigration, describeSchemaProblem, schemaProblem } from "./schema-version.ts";

// Load balancers give up on a probe after some seconds; an answer that comes later says nothing to them.
const limitMs = 2_000;
const limits = { statementMs: limitMs, lockMs: limitMs, idleInTransactionMs: limitMs, connectMs: limitMs };

/** A connection on which a question was not answered, and those of the pool that were open when it was asked. */
type Silence = { client: pg.Client; bytesRead: number; open: ReadonlySet<pg.PoolClient> };

type State = { standby: boolean; read_only: boolean; applied: AppliedMigration[] };

/**
 * Says whether the database can serve this process, for a load balancer that asks every few seconds. It has a connection of its own,
 * so that the answer does not wait behind the requests that it is about.
 *
 * A probe writes nothing. That the database is read-only can be asked. That its disk is full cannot, so it is looked into only
 * after a write of this process has failed for want of room: then a result that does not fit into the memory it may use makes
 * the server put some megabytes into a temporary file, which needs the same room, is gone at once and leaves nothing in any table. A
 * write that succeeds proves nothing: on a full disk those that fit into pages which are already there go on succeeding.
 *
 * A host that vanished, or a firewall that forgot its connections, is noticed here before any request has waited to its limit. Where the server
 * is silent on the probe's connection and answers on a new one, the pool gives up those that were open before.
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

  /** Why requests should go elsewhere, in words, or null. Probes that come at once share one answer. */
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
      if (client !== null && client === this.#client && isSilence(error) && this.#silence === null) {
        // Kept for now: an answer that is only late still comes on it.
        this.#client = null;
        this.#silence = { client, bytesRead, open };
        // The next question of a load balancer may be seconds away.
        setImmediate(() => {
          if (!this.#isClosed) void this.problem();
        });
      } else this.#drop();
      return "the database does not answer";
    }
  }

  /** A new connection was answered. One that has heard nothing until now is silent, and not just slow. */
  #judgeSilence(): void {
    if (this.#silence === null) return;
    const { client, bytesRead, open } = this.#silence;
    this.#silence = null;
    if (bytesReadOn(client) === bytesRead) this.#db.pool.giveUp(open);
    cutOff(client);
  }

  async #ask(): Promise<string | null> {
    const refused = this.#db.pool.refusedWrite;
    // What makes a database read-only may hold for connections that are opened from then on, or lead them to another server.
    if (refused === "read_only") this.#drop();
    const client = await this.#connect();
    const { rows } = await client.query<State>(
      `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only,
         (select json_agg(applied) from (${appliedMigrations}) applied) as applied`,
    );
    const [state] = rows;
    if (state === undefined) throw new Error("no answer");
    if (state.standby) return "the database is a standby and takes no writes";
    if (state.read_only) return "the database is read-only";
    const schema = schemaProblem(this.#migrations, state.applied);
    if (schema !== null) return describeSchemaProblem(schema);
    if (refused === "disk_full" && !(await hasRoom(client))) return "the disk of the database is full";
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
        // Known from here on, so that it is cut off when the limit comes first.
        this.#client = tried;
      },
    });
  }

  #drop(): void {
    if (this.#client !== null) cutOff(this.#client);
    this.#client = null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#silence !== null) cutOff(this.#silence.client);
    if (this.#client !== null) await endConnection(this.#client);
  }
}

function bytesReadOn(client: pg.Client | null): number {
  return (client?.connection.stream as Socket | undefined)?.bytesRead ?? 0;
}

async function hasRoom(client: pg.Client): Promise<boolean> {
  try {
    // One message is one transaction, and the setting goes with it: the connection may be a pooler's.
    await client.query(
      "select set_config('work_mem', '64kB', true); select count(*) from generate_series(1, 200000)",
    );
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code?.startsWith("53")) return false;
    throw error;
  }
}

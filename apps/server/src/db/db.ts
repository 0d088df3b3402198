import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import { type Sql, statementName } from "./sql.ts";

// bigint counts of rows and requests fit a JavaScript number; nothing here counts beyond 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type Row = Record<string, unknown>;

/** Anything that can run a statement: the pool or an open transaction. */
export type Queryable = {
  rows<T extends Row>(statement: Sql): Promise<T[]>;
  /** The single row of a statement that always gives one. */
  one<T extends Row>(statement: Sql): Promise<T>;
  /** The first row, or null. */
  first<T extends Row>(statement: Sql): Promise<T | null>;
  /** How many rows a write touched. */
  run(statement: Sql): Promise<number>;
};

abstract class Statements implements Queryable {
  protected abstract send(statement: Sql): Promise<pg.QueryResult>;

  async rows<T extends Row>(statement: Sql): Promise<T[]> {
    return (await this.send(statement)).rows as T[];
  }

  async one<T extends Row>(statement: Sql): Promise<T> {
    const [row] = await this.rows<T>(statement);
    if (row === undefined) throw new Error("a statement that always gives a row gave none");
    return row;
  }

  async first<T extends Row>(statement: Sql): Promise<T | null> {
    return (await this.rows<T>(statement))[0] ?? null;
  }

  async run(statement: Sql): Promise<number> {
    return (await this.send(statement)).rowCount ?? 0;
  }
}

/**
 * An open transaction. Only `Db.transaction` makes one, so a function that takes a `Tx` cannot be called outside of one.
 */
export class Tx extends Statements {
  // The private member makes the type nominal: a `Db` is not assignable to a `Tx`.
  readonly #client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    super();
    this.#client = client;
  }

  protected send(statement: Sql): Promise<pg.QueryResult> {
    return sendOn(this.#client, statement);
  }

  /** Delivered to listeners of every process when, and only when, this transaction commits. */
  async notify(channel: string, payload: string): Promise<void> {
    await this.#client.query("select pg_notify($1, $2)", [channel, payload]);
  }
}

const retryableStates = new Set(["40001", "40P01"]);

export class Db extends Statements {
  readonly #pool: pg.Pool;
  readonly #joined = new AsyncLocalStorage<{ client: pg.PoolClient; savepoints: number }>();

  constructor(pool: pg.Pool) {
    super();
    this.#pool = pool;
  }

  protected send(statement: Sql): Promise<pg.QueryResult> {
    return sendOn(this.#joined.getStore()?.client ?? this.#pool, statement);
  }

  /**
   * Runs `work` in one transaction that everything inside of it joins: statements sent to this `Db` and transactions
   * opened on it become part of it. For what must be true together with all that a use case writes, without the use
   * case knowing. Code inside that goes on after a failed statement must have sent it in a transaction of its own.
   */
  async joinedTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#begin((tx, client) => this.#joined.run({ client, savepoints: 0 }, () => work(tx)));
  }

  /**
   * Runs `work` in one transaction. A deadlock or a serialization failure rolls back and runs `work` again,
   * so `work` must do nothing but talk to the database.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const outer = this.#joined.getStore();
    if (outer === undefined) return this.#begin(work);
    const savepoint = `s${outer.savepoints++}`;
    await outer.client.query(`savepoint ${savepoint}`);
    try {
      const result = await work(new Tx(outer.client));
      await outer.client.query(`release savepoint ${savepoint}`);
      return result;
    } catch (error) {
      // It fails when the connection is lost. Then so will the commit, and the first error tells more.
      await outer.client.query(`rollback to savepoint ${savepoint}`).catch(() => {});
      throw error;
    }
  }

  async #begin<T>(work: (tx: Tx, client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("begin");
        const result = await work(new Tx(client), client);
        await client.query("commit");
        return result;
      } catch (error) {
        // Fails at once on a connection that was lost, which the pool then closes instead of lending it again.
        await client.query("rollback").catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        if (attempt < 4 && isRetryable(error)) continue;
        throw error;
      } finally {
        client.release(broken);
      }
    }
  }

  /**
   * A connection of its own for advisory locks and other things that belong to a session. It is closed when `work` fails:
   * nobody knows what it still holds then, or whether it is still there.
   */
  async withConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failed = true;
    try {
      const result = await work(client);
      failed = false;
      return result;
    } finally {
      client.release(failed);
    }
  }

  /** How the pool stands: connections in all and without work, work that waits for one, and how many there may be. */
  get connections(): { open: number; idle: number; waiting: number; limit: number } {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount, limit: options.max };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

function sendOn(target: pg.Pool | pg.PoolClient, statement: Sql): Promise<pg.QueryResult> {
  const text = statement.text;
  return target.query({ name: statementName(text), text, values: statement.values as unknown[] });
}

/** A deadlock or a serialization failure: the same transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return retryableStates.has(sqlState(error) ?? "");
}

/** The database is away or starting: the same work may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  // AK001 is of our own triggers: this process has yet to learn of a new key.
  if (/^(08|57P0|53|AK001)/.test(state)) return true;
  if (["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH"].includes(state))
    return (error as { syscall?: string }).syscall !== undefined;
  // What the driver says has no code. The last is a statement on a connection that was lost before it.
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|is not queryable$/.test(error.message)
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

export function openDb(options: { url: string; poolSize: number; onError: (error: Error) => void }): Db {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: 10_000,
    application_name: "assay",
  });
  // A lost connection emits `error` on its client, and again when the socket closes. The pool listens only while the client
  // is idle, and an `error` that nobody listens to ends the process; so each client has a listener for as long as it lives.
  // Whoever had borrowed it learns from the statement that fails.
  pool.on("connect", (client) => {
    let told = false;
    client.on("error", (error) => {
      if (!told) options.onError(error);
      told = true;
    });
  });
  // Emitted for idle clients, after the listener above.
  pool.on("error", () => {});
  return new Db(pool);
}

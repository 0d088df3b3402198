import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { destroySocket } from "./connection.ts";
import { isRetryable } from "./errors.ts";
import { Hints, type Notification } from "./hints.ts";
import type { Answer, Row, RowOf } from "./pipeline.ts";
import { ConnectionPool, type PoolOptions } from "./pool.ts";
import type { PooledConnection } from "./pooled-connection.ts";
import type { Sql } from "./sql.ts";

// Counts as bigint fit a JavaScript number; none exceeds 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Anything that can run a statement: the pool or an open transaction. */
export type Queryable = {
  rows<T extends RowOf<T>>(statement: Sql): Promise<T[]>;
  /** The single row of a statement that always returns one. */
  one<T extends RowOf<T>>(statement: Sql): Promise<T>;
  first<T extends RowOf<T>>(statement: Sql): Promise<T | null>;
  /** The number of rows that a write changed. */
  run(statement: Sql): Promise<number>;
  /** A hint for listeners in every process, sent only after the commit. Listeners also poll. */
  notify(channel: string, payload: string): void;
};

/** A statement that is not sent yet, and how to read its rows. */
export type Question<T> = { statement: Sql; read: (rows: readonly Row[]) => T };

export function allRows<T extends RowOf<T>>(statement: Sql): Question<readonly T[]> {
  return { statement, read: (rows) => rows as readonly T[] };
}

export function firstRow<T extends RowOf<T>>(statement: Sql): Question<T | null> {
  return { statement, read: (rows) => (rows[0] as T | undefined) ?? null };
}

abstract class Statements implements Queryable {
  protected abstract send(statement: Sql): Promise<Answer>;
  abstract notify(channel: string, payload: string): void;

  async rows<T extends RowOf<T>>(statement: Sql): Promise<T[]> {
    return (await this.send(statement)).rows as T[];
  }

  async one<T extends RowOf<T>>(statement: Sql): Promise<T> {
    const row = await this.first<T>(statement);
    if (row === null) throw new Error("a statement that always returns a row returned none");
    return row;
  }

  async first<T extends RowOf<T>>(statement: Sql): Promise<T | null> {
    return ((await this.send(statement)).rows[0] as T | undefined) ?? null;
  }

  async run(statement: Sql): Promise<number> {
    return (await this.send(statement)).rowCount;
  }
}

/**
 * An open transaction. Only `Db.transaction` creates one, so a function that takes a `Tx` cannot be called
 * outside of one.
 */
export class Tx extends Statements {
  // The private member makes the type nominal: a `Db` is not assignable to a `Tx`.
  readonly #connection: PooledConnection;

  constructor(connection: PooledConnection) {
    super();
    this.#connection = connection;
  }

  protected send(statement: Sql): Promise<Answer> {
    return this.#connection.query(statement);
  }

  /**
   * Sends several statements in one round trip. Each has its own snapshot, so the second sees what was
   * committed while the first waited for a lock.
   */
  async ask<T extends readonly unknown[]>(...questions: { [K in keyof T]: Question<T[K]> }): Promise<T> {
    const asked: readonly Question<unknown>[] = questions;
    const results = await this.#connection.sendAll(asked.map(({ statement }) => statement));
    return asked.map(({ read }, at) => read(results[at]?.rows ?? [])) as unknown as T;
  }

  /**
   * A write whose result the caller does not need. It is sent with the next statement or the commit, and
   * fails there.
   */
  write(statement: Sql): void {
    this.#connection.queue(statement);
  }

  notify(channel: string, payload: string): void {
    this.#connection.hints.push({ channel, payload });
  }
}

/** The context of the statements of one task. */
type Work = {
  joined: { connection: PooledConnection; savepoints: number } | null;
  /** The limit for each statement, instead of the pool's. */
  statementMs: number | null;
};

const ownWork: Work = { joined: null, statementMs: null };

/** The database as features use it: single statements, transactions and hints to other processes. */
export class Db extends Statements {
  readonly pool: ConnectionPool;
  readonly #work = new AsyncLocalStorage<Work>();
  readonly #backgroundClients = new Set<pg.PoolClient>();
  readonly #hints = new Hints((hints) => this.#sendHints(hints));

  constructor(pool: ConnectionPool) {
    super();
    this.pool = pool;
  }

  get #current(): Work {
    return this.#work.getStore() ?? ownWork;
  }

  protected send(statement: Sql): Promise<Answer> {
    const { joined } = this.#current;
    return joined === null ? this.pool.send(statement) : joined.connection.query(statement);
  }

  /** Outside of a transaction the write is already committed. */
  notify(channel: string, payload: string): void {
    const { joined } = this.#current;
    if (joined !== null) joined.connection.hints.push({ channel, payload });
    else void this.#hints.add([{ channel, payload }]);
  }

  /** Notifies listeners in every process at once, without a write, and waits until the hint is sent. */
  notifyNow(channel: string, payload: string): Promise<void> {
    return this.#hints.add([{ channel, payload }]);
  }

  /**
   * A notifying transaction holds a lock for all databases until its commit is done. Without this setting,
   * the lock lasts as long as the disk and a synchronous replica take.
   */
  async #sendHints(hints: readonly Notification[]): Promise<void> {
    const query = {
      name: "notify",
      text: `select set_config('synchronous_commit', 'off', true), count(pg_notify(channel, payload))
        from unnest($1::text[], $2::text[]) as hint (channel, payload)`,
      values: [hints.map(({ channel }) => channel), hints.map(({ payload }) => payload)],
    };
    await this.pool.send(query);
  }

  /**
   * For background work: the limit of each statement in transactions that `work` opens. Statements outside of
   * a transaction keep the limit of a request.
   */
  withStatementLimit<T>(statementMs: number, work: () => Promise<T>): Promise<T> {
    return this.#work.run({ ...this.#current, statementMs }, work);
  }

  /**
   * Ends background work after this time, because the process shuts down. A database that does not answer
   * would delay it.
   */
  endBackgroundWork(afterMs: number): void {
    setTimeout(() => {
      for (const client of this.#backgroundClients) destroySocket(client);
    }, afterMs).unref();
  }

  /**
   * Runs `work` in one transaction that all statements and transactions inside of it join. For writes that
   * must be atomic with everything that a use case writes, without a change to the use case. Code inside that
   * continues after a failed statement must send it in a nested transaction.
   */
  async joinedTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#begin((tx, connection) =>
      this.#work.run({ ...this.#current, joined: { connection, savepoints: 0 } }, () => work(tx)),
    );
  }

  /**
   * Runs `work` in one transaction. After a deadlock or a serialization failure `work` runs again, so it must
   * only use the database.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { joined } = this.#current;
    if (joined === null) return this.#begin(work);
    const { connection } = joined;
    const savepoint = `savepoint s${joined.savepoints++}`;
    const hintsBefore = connection.hints.length;
    connection.queue({ text: savepoint });
    try {
      const result = await work(new Tx(connection));
      // Queued writes belong to this savepoint, so they must fail here.
      await connection.query({ text: `release ${savepoint}` });
      return result;
    } catch (error) {
      connection.hints.length = hintsBefore;
      // Fails if the connection is lost. Then the commit fails as well, and the first error is more useful.
      await connection.rollBackTo(savepoint).catch(() => {});
      throw error;
    }
  }

  #begin<T>(work: (tx: Tx, connection: PooledConnection) => Promise<T>): Promise<T> {
    const { tracer } = this.pool;
    if (tracer === null) return this.#runToCommit(work);
    return tracer.part("transaction", "internal", {}, () => this.#runToCommit(work));
  }

  async #runToCommit<T>(work: (tx: Tx, connection: PooledConnection) => Promise<T>): Promise<T> {
    const { statementMs } = this.#current;
    for (let attempt = 1; ; attempt++) {
      const connection = await this.pool.borrow();
      let broken: Error | undefined;
      if (statementMs !== null) this.#backgroundClients.add(connection.client);
      try {
        await connection.begin(statementMs);
        const result = await work(new Tx(connection), connection);
        await connection.commit();
        void this.#hints.add(connection.hints);
        return result;
      } catch (error) {
        // Fails at once on a lost connection, which the pool then closes instead of reusing it.
        await connection.rollBack().catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        if (attempt < 4 && isRetryable(error)) continue;
        throw error;
      } finally {
        this.#backgroundClients.delete(connection.client);
        connection.client.release(broken);
      }
    }
  }

  /** A session of the server, for advisory locks and other session state. */
  withConnection<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.pool.withSession(work);
  }

  async close(): Promise<void> {
    await this.#hints.close();
    await this.pool.close();
  }
}

export function openDb(options: PoolOptions): Db {
  return new Db(new ConnectionPool(options));
}

import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import type { Tracer } from "../lib/tracer.ts";
import {
  answerLimitMs,
  connectionTo,
  cutOff,
  endConnection,
  isSilence,
  limitsOf,
  openConnection,
  patientLimits,
  type TimeLimits,
} from "./connection.ts";
import { type Answer, Flight, type Query, type Row } from "./flight.ts";
import { Hints, type Notification } from "./hints.ts";
import type { Sql } from "./sql.ts";
import { summaryOf } from "./statement-summary.ts";

// bigint counts of rows and requests fit a JavaScript number; nothing here counts beyond 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Anything that can run a statement: the pool or an open transaction. */
export type Queryable = {
  rows<T extends Row>(statement: Sql): Promise<T[]>;
  /** The single row of a statement that always gives one. */
  one<T extends Row>(statement: Sql): Promise<T>;
  /** The first row, or null. */
  first<T extends Row>(statement: Sql): Promise<T | null>;
  /** How many rows a write touched. */
  run(statement: Sql): Promise<number>;
  /** A hint for listeners of every process, sent when what was written is committed, and only then. Whoever has to know also looks by itself. */
  notify(channel: string, payload: string): void;
};

/** A statement that is not sent yet, and what its rows mean. */
export type Question<T> = { statement: Sql; read: (rows: readonly Row[]) => T };

export function allRows<T extends Row>(statement: Sql): Question<readonly T[]> {
  return { statement, read: (rows) => rows as readonly T[] };
}

export function firstRow<T extends Row>(statement: Sql): Question<T | null> {
  return { statement, read: (rows) => (rows[0] as T | undefined) ?? null };
}

abstract class Statements implements Queryable {
  protected abstract send(statement: Sql): Promise<Answer>;
  abstract notify(channel: string, payload: string): void;

  async rows<T extends Row>(statement: Sql): Promise<T[]> {
    return (await this.send(statement)).rows as T[];
  }

  async one<T extends Row>(statement: Sql): Promise<T> {
    return onlyRow<T>(await this.send(statement));
  }

  async first<T extends Row>(statement: Sql): Promise<T | null> {
    return (await this.rows<T>(statement))[0] ?? null;
  }

  async run(statement: Sql): Promise<number> {
    return (await this.send(statement)).rowCount;
  }
}

function onlyRow<T extends Row>({ rows: [row] }: Answer): T {
  if (row === undefined) throw new Error("a statement that always gives a row gave none");
  return row as T;
}

const beginning: Query = { name: "begin", text: "begin" };

const queryOf = (statement: Sql): Query => ({ ...statement.prepared, values: statement.values });

/** How statements travel on the connections of a pool. */
type Manner = {
  tracer: Tracer | null;
  /** Whether statements are prepared under their names. */
  named: boolean;
  /** What is sent at the beginning of each transaction, because the connection cannot hold it. */
  limits: Query | null;
};

/** A connection of the pool in the hands of whoever borrowed it. */
class Borrowed {
  readonly client: pg.PoolClient;
  readonly #onFailure: (error: unknown) => void;
  readonly #manner: Manner;
  /** What is sent together with the next statement, before it: its answer is nobody's business. */
  #held: Query[] = [];
  /** What is told to listeners once the transaction is committed. */
  readonly hints: Notification[] = [];
  /** In place of the limit that the connection was opened with. */
  #answerLimitMs: number | undefined;

  constructor(client: pg.PoolClient, onFailure: (error: unknown) => void, manner: Manner) {
    this.client = client;
    this.#onFailure = onFailure;
    this.#manner = manner;
  }

  async query(query: Query): Promise<Answer> {
    const [answer] = await this.fly([query]);
    if (answer === undefined) throw new Error("a statement was not answered");
    return answer;
  }

  send(statement: Sql): Promise<Answer> {
    return this.query(queryOf(statement));
  }

  /** One statement that is a transaction of its own. */
  sendAlone(query: Query): Promise<Answer> {
    if (this.#manner.limits !== null) this.hold(this.#manner.limits);
    return this.query(query);
  }

  /** Sends all of them, and what was held, at once. The results are those of `queries`. */
  async fly(queries: readonly Query[]): Promise<readonly Answer[]> {
    const held = this.#held;
    const all = held.length === 0 ? queries : [...held, ...queries];
    if (held.length > 0) this.#held = [];
    try {
      const answers = await this.#sendTraced(all);
      return held.length === 0 ? answers : answers.slice(held.length);
    } catch (error) {
      // It would lead to the socket instead of to whoever sent the statement.
      if (error instanceof Error) Error.captureStackTrace(error);
      this.#onFailure(error);
      throw error;
    }
  }

  #sendTraced(queries: readonly Query[]): Promise<readonly Answer[]> {
    const { tracer, named } = this.#manner;
    const send = () => new Flight(queries, this.#answerLimitMs, named).send(this.client);
    if (tracer === null) return send();
    const summary = summaryOf(queries.map(({ text }) => text));
    const attributes = {
      "db.system.name": "postgresql" as const,
      "db.query.summary": summary,
      "db.operation.batch.size": queries.length,
    };
    return tracer.part(summary, "client", attributes, send);
  }

  hold(query: Query): void {
    this.#held.push(query);
  }

  async commit(): Promise<void> {
    if (this.#held[0] === beginning && this.#held.length === this.#opening.length) this.#held = [];
    else await this.query({ name: "commit", text: "commit" });
  }

  async rollBack(): Promise<void> {
    const hasBegun = this.#held[0] !== beginning;
    this.#held = [];
    if (hasBegun) await this.query({ text: "rollback" });
  }

  /** Undoes everything since the savepoint, sent or not. */
  async rollBackTo(savepoint: string): Promise<void> {
    const at = this.#held.findLastIndex(({ text }) => text === savepoint);
    this.#held.length = Math.max(at, 0);
    // What is held was held after the savepoint was sent, or with it.
    if (at < 0) await this.query({ text: `rollback to ${savepoint}` });
  }

  get #opening(): readonly Query[] {
    const { limits } = this.#manner;
    return limits === null ? [beginning] : [beginning, limits];
  }

  /** Begins a transaction, together with its first statement; `statementMs` is the limit for each statement in it. */
  async begin(statementMs: number | undefined): Promise<void> {
    if (statementMs === undefined) {
      this.#held.push(...this.#opening);
      return;
    }
    await this.fly([...this.#opening, { text: `set local statement_timeout = ${Math.trunc(statementMs)}` }]);
    // Only now: a connection that was lost unnoticed shows at the first statement, and is not waited for that long.
    this.#answerLimitMs = answerLimitMs(statementMs);
  }
}

/**
 * An open transaction. Only `Db.transaction` makes one, so a function that takes a `Tx` cannot be called outside of one.
 */
export class Tx extends Statements {
  // The private member makes the type nominal: a `Db` is not assignable to a `Tx`.
  readonly #connection: Borrowed;

  constructor(connection: Borrowed) {
    super();
    this.#connection = connection;
  }

  protected send(statement: Sql): Promise<Answer> {
    return this.#connection.send(statement);
  }

  /**
   * Asks several questions in one round trip. Each sees what is committed when it begins, so the second sees what was committed while the
   * first waited for a lock.
   */
  async ask<T extends readonly unknown[]>(...questions: { [K in keyof T]: Question<T[K]> }): Promise<T> {
    const asked: readonly Question<unknown>[] = questions;
    const results = await this.#connection.fly(asked.map(({ statement }) => queryOf(statement)));
    return asked.map(({ read }, at) => read(results[at]?.rows ?? [])) as unknown as T;
  }

  /** A write whose result nobody needs: it is sent with the next statement or with the commit, and fails there. */
  write(statement: Sql): void {
    this.#connection.hold(queryOf(statement));
  }

  notify(channel: string, payload: string): void {
    this.#connection.hints.push({ channel, payload });
  }
}

/** What a database without room, and one that only reads, say to a write. */
export type RefusedWrite = "disk_full" | "read_only";

const retryableStates = new Set(["40001", "40P01"]);

export class Db extends Statements {
  readonly #pool: pg.Pool;
  readonly #manner: Manner;
  readonly #openSession: (() => Promise<pg.Client>) | null;
  readonly #joined = new AsyncLocalStorage<{ connection: Borrowed; savepoints: number }>();
  readonly #unhurried = new AsyncLocalStorage<{ statementMs: number }>();
  readonly #unhurriedClients = new Set<pg.PoolClient>();
  /** Counts the times when what is open became of no use; a connection from before the last one is not lent again. */
  #generation = 0;
  #refusedWrite: RefusedWrite | null = null;
  readonly #generationOf = new Map<pg.PoolClient, number>();
  readonly #hints = new Hints((hints) => this.#sendHints(hints));
  /** `openSession` where those of the pool are not sessions of the server's own. */
  constructor(pool: pg.Pool, manner: Manner, openSession: (() => Promise<pg.Client>) | null) {
    super();
    this.#pool = pool;
    this.#manner = manner;
    this.#openSession = openSession;
    pool.on("connect", (client) => this.#generationOf.set(client, this.#generation));
    pool.on("remove", (client) => this.#generationOf.delete(client));
  }

  protected async send(statement: Sql): Promise<Answer> {
    const joined = this.#joined.getStore();
    if (joined !== undefined) return joined.connection.send(statement);
    // Only a transaction can have a limit of its own without leaving it on the connection.
    if (this.#unhurried.getStore() !== undefined)
      return this.#begin((_tx, connection) => connection.send(statement));
    return this.#lend((connection) => connection.sendAlone(queryOf(statement)));
  }

  /** A connection for what is a transaction of its own. */
  async #lend<T>(use: (connection: Borrowed) => Promise<T>): Promise<T> {
    const connection = await this.#borrow();
    let failure: Error | boolean = false;
    try {
      return await use(connection);
    } catch (error) {
      if (!leavesConnection(error)) failure = error instanceof Error ? error : true;
      throw error;
    } finally {
      connection.client.release(failure);
    }
  }

  /** Outside of a transaction what was written is committed already. */
  notify(channel: string, payload: string): void {
    const joined = this.#joined.getStore();
    if (joined !== undefined) joined.connection.hints.push({ channel, payload });
    else void this.#hints.add([{ channel, payload }]);
  }

  /** Tells listeners of every process, whatever is or is not written, and waits until it is sent. */
  tell(channel: string, payload: string): Promise<void> {
    return this.#hints.add([{ channel, payload }]);
  }

  /**
   * PostgreSQL holds one lock for all databases from before a notifying transaction commits until it has: without the setting, for as long as the disk, and a
   * synchronous replica, take.
   */
  async #sendHints(hints: readonly Notification[]): Promise<void> {
    const query = {
      name: "notify",
      text: `select set_config('synchronous_commit', 'off', true), count(pg_notify(channel, payload))
        from unnest($1::text[], $2::text[]) as hint (channel, payload)`,
      values: [hints.map(({ channel }) => channel), hints.map(({ payload }) => payload)],
    };
    await this.#lend((connection) => connection.sendAlone(query));
  }

  async #borrow(): Promise<Borrowed> {
    for (;;) {
      const client = await this.#connect();
      if (this.#generationOf.get(client) === this.#generation)
        return new Borrowed(client, (error) => this.#noticeFailure(error, client), this.#manner);
      cutOff(client);
      client.release(true);
    }
  }

  #connect(): Promise<pg.PoolClient> {
    const { tracer } = this.#manner;
    const connect = () => this.#pool.connect();
    if (tracer === null || this.#pool.idleCount > 0) return connect();
    return tracer.part("wait for a connection", "internal", {}, connect);
  }

  /**
   * A server that is silent on one connection is silent on all that were open then: a host that vanished, or a firewall that
   * forgot them. One that has become read-only may have handed over to another, which only new connections reach. So one
   * request after the other does not have to find out.
   */
  #noticeFailure(error: unknown, client: pg.PoolClient): void {
    const state = sqlState(error);
    if (state === "53100") this.#refusedWrite = "disk_full";
    if (state === "25006") this.#refusedWrite = "read_only";
    if (!isSilence(error) && state !== "25006") return;
    if (this.#generationOf.get(client) === this.#generation) this.#generation++;
    // What is sent on it from now on, such as a rollback, fails at once instead of waiting as long again.
    if (isSilence(error)) cutOff(client);
  }

  /** Those of the pool that are open now, lent or not. */
  get openConnections(): ReadonlySet<pg.PoolClient> {
    return new Set(this.#generationOf.keys());
  }

  /** Ends these, of which somebody knows that the server is silent on them. What waits on one fails at once. */
  giveUp(silent: ReadonlySet<pg.PoolClient>): void {
    for (const client of this.#generationOf.keys()) if (silent.has(client)) cutOff(client);
  }

  /** Why the last write failed that the database had no room for, or did not allow. Stays until somebody knows better. */
  get refusedWrite(): RefusedWrite | null {
    return this.#refusedWrite;
  }

  forgetRefusedWrite(refused: RefusedWrite): void {
    if (this.#refusedWrite === refused) this.#refusedWrite = null;
  }

  /** For background work: each statement that `work` sends may take this long. */
  unhurried<T>(statementMs: number, work: () => Promise<T>): Promise<T> {
    return this.#unhurried.run({ statementMs }, work);
  }

  /** Such work has this long left, because the process is to end. A database that does not answer any more would keep it for longer than there is. */
  hurry(withinMs: number): void {
    setTimeout(() => {
      for (const client of this.#unhurriedClients) cutOff(client);
    }, withinMs).unref();
  }

  /**
   * Runs `work` in one transaction that everything inside of it joins: statements sent to this `Db` and transactions
   * opened on it become part of it. For what must be true together with all that a use case writes, without the use
   * case knowing. Code inside that goes on after a failed statement must have sent it in a transaction of its own.
   */
  async joinedTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#begin((tx, connection) => this.#joined.run({ connection, savepoints: 0 }, () => work(tx)));
  }

  /**
   * Runs `work` in one transaction. A deadlock or a serialization failure rolls back and runs `work` again,
   * so `work` must do nothing but talk to the database.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const outer = this.#joined.getStore();
    if (outer === undefined) return this.#begin(work);
    const { connection } = outer;
    const savepoint = `s${outer.savepoints++}`;
    const begun = `savepoint ${savepoint}`;
    const hintsBefore = connection.hints.length;
    connection.hold({ text: begun });
    try {
      const result = await work(new Tx(connection));
      // What is held belongs to this part, and its failure to whoever waits for it.
      await connection.query({ text: `release ${begun}` });
      return result;
    } catch (error) {
      connection.hints.length = hintsBefore;
      // It fails when the connection is lost. Then so will the commit, and the first error tells more.
      await connection.rollBackTo(begun).catch(() => {});
      throw error;
    }
  }

  #begin<T>(work: (tx: Tx, connection: Borrowed) => Promise<T>): Promise<T> {
    const { tracer } = this.#manner;
    if (tracer === null) return this.#runToCommit(work);
    return tracer.part("transaction", "internal", {}, () => this.#runToCommit(work));
  }

  async #runToCommit<T>(work: (tx: Tx, connection: Borrowed) => Promise<T>): Promise<T> {
    const statementMs = this.#unhurried.getStore()?.statementMs;
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#borrow();
      let broken: Error | undefined;
      if (statementMs !== undefined) this.#unhurriedClients.add(connection.client);
      try {
        await connection.begin(statementMs);
        const result = await work(new Tx(connection), connection);
        await connection.commit();
        void this.#hints.add(connection.hints);
        return result;
      } catch (error) {
        // Fails at once on a connection that was lost, which the pool then closes instead of lending it again.
        await connection.rollBack().catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        if (attempt < 4 && isRetryable(error)) continue;
        throw error;
      } finally {
        this.#unhurriedClients.delete(connection.client);
        connection.client.release(broken);
      }
    }
  }

  /**
   * A connection of its own for advisory locks and other things that belong to a session. It is closed when `work` fails:
   * nobody knows what it still holds then, or whether it is still there.
   */
  async withConnection<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    if (this.#openSession !== null) {
      const session = await this.#openSession();
      return work(session).finally(() => endConnection(session));
    }
    const { client } = await this.#borrow();
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

  /** Returns when the server has ended every session, so that an embedded one can be stopped without cutting any off. */
  async close(): Promise<void> {
    await this.#hints.close();
    await this.#pool.end();
    // The pool reports a client as removed when the server has closed its end. A server that never does must not keep the process.
    const left = this.#generationOf;
    const gone = Promise.withResolvers<void>();
    const look = () => {
      if (left.size === 0) gone.resolve();
    };
    this.#pool.on("remove", look);
    look();
    const deadline = setTimeout(() => {
      for (const client of left.keys()) cutOff(client);
      gone.resolve();
    }, 1_000);
    await gone.promise;
    clearTimeout(deadline);
  }
}

/** A deadlock or a serialization failure: the same transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return retryableStates.has(sqlState(error) ?? "");
}

/**
 * Whether the server refused a statement and is ready for the next one on the same connection. Not where it ends the
 * connection (classes 08 and 57P), nor where a prepared statement would fail again for as long as the connection lives
 * (0A000 after its tables changed, class 26).
 */
function leavesConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P|0A000|26|$)/.test(error.code ?? "");
}

const lostSystemCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "ENOENT", "EPIPE", "ETIMEDOUT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENOTFOUND", "EAI_AGAIN"],
]);

/**
 * The database is away, starting, overloaded, full or read-only for now: the same work may succeed in a moment. Besides whole
 * classes of SQLSTATE: 57014 is a statement that took too long, 55P03 a lock that was not free in time, 25P03 and 25P04 a
 * transaction that was ended for its age, 25006 a write on a read-only database, AK001 is of our own triggers: this
 * process has yet to learn of a new key.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  if (/^(08|57P0|53|57014|55P03|25P0[34]|25006|AK001)/.test(state)) return true;
  // A name with several addresses fails with all of their errors.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnavailable);
  if (lostSystemCodes.has(state)) return (error as { syscall?: string }).syscall !== undefined;
  // What the driver says has no code. The last is a statement on a connection that was lost before it.
  return (
    error instanceof Error &&
    (isSilence(error) ||
      /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|is not queryable$/.test(
        error.message,
      ))
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

export function openDb(options: {
  url: string;
  poolSize: number;
  onError: (error: Error) => void;
  name?: string;
  limits?: TimeLimits;
  tracer?: Tracer | null;
  /** Leads to the server itself, where `url` leads through a pooler that lends connections for single transactions. */
  directUrl?: string;
  /** False prepares no statement under a name. */
  named?: boolean;
}): Db {
  const { name = "assay", limits = patientLimits, directUrl, named = true, tracer = null } = options;
  const pooled = directUrl !== undefined;
  const pool = new pg.Pool({
    ...connectionTo(options.url, name, limits, { pooled }),
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
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
  return new Db(
    pool,
    {
      tracer,
      named,
      limits: pooled ? { name: "limits", text: limitsOf(limits) } : null,
    },
    pooled ? () => openConnection(directUrl, name, limits) : null,
  );
}

import pg from "pg";
import { sqlState } from "../lib/sql-state.ts";
import type { Tracer } from "../lib/tracer.ts";
import {
  answerLimitMs,
  connectionTo,
  destroySocket,
  endConnection,
  isAnswerTimeout,
  limitsOf,
  openConnection,
  patientLimits,
  type TimeLimits,
} from "./connection.ts";
import { leavesConnection } from "./errors.ts";
import type { Answer, Query } from "./pipeline.ts";
import { PooledConnection, type SendOptions } from "./pooled-connection.ts";

/** Why the database rejects writes. */
type RefusedWrite = "disk_full" | "read_only";

export type PoolOptions = {
  /** A function is called for each new connection, because the password may change. */
  url: string | (() => string);
  poolSize: number;
  onError: (error: Error) => void;
  name?: string;
  limits?: TimeLimits;
  tracer?: Tracer | null;
  /** Leads to the server itself, if `url` leads through a pooler in transaction mode. */
  directUrl?: () => string;
  /** False sends every statement unnamed. */
  named?: boolean;
};

/** The database connections of a process: lends them, and closes those that a failure has made unusable. */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #options: SendOptions;
  readonly #openSession: () => Promise<pg.Client>;
  /**
   * Counts the failures that make every open connection unusable. A connection of an earlier generation is
   * not reused.
   */
  #generation = 0;
  readonly #generationOf = new Map<pg.PoolClient, number>();
  #refusedWrite: RefusedWrite | null = null;

  constructor(options: PoolOptions) {
    const { name = "assay", limits = patientLimits, directUrl, named = true, tracer = null } = options;
    const pooled = directUrl !== undefined;
    this.#options = {
      ...{ tracer, named, answerLimitMs: answerLimitMs(limits.statementMs) },
      limits: pooled ? { name: "limits", text: limitsOf(limits) } : null,
    };
    const { url } = options;
    const urlNow = typeof url === "string" ? () => url : url;
    this.#openSession = () => openConnection((directUrl ?? urlNow)(), name, limits);
    // Each message has its own limit (`Pipeline.send`).
    const connection = () => connectionTo(urlNow(), name, limits, { pooled, answerMs: 0 });
    this.#pool = new pg.Pool({
      ...connection(),
      Client: class extends pg.Client {
        constructor() {
          super(connection());
        }
      },
      max: options.poolSize,
      idleTimeoutMillis: 30_000,
    });
    // A lost connection emits `error` on its client, and again when the socket closes. The pool listens only
    // while the client is idle, and an `error` without a listener ends the process. So each client has a
    // listener for its whole life. A caller that uses the connection gets the error from its statement.
    this.#pool.on("connect", (client) => {
      this.#generationOf.set(client, this.#generation);
      let isReported = false;
      client.on("error", (error) => {
        if (!isReported) options.onError(error);
        isReported = true;
      });
    });
    this.#pool.on("remove", (client) => this.#generationOf.delete(client));
    // Emitted for idle clients, after the listener above.
    this.#pool.on("error", () => {});
  }

  get tracer(): Tracer | null {
    return this.#options.tracer;
  }

  /** The caller must release its `client`. */
  async borrow(): Promise<PooledConnection> {
    for (;;) {
      const client = await this.#connect();
      if (this.#generationOf.get(client) === this.#generation)
        return new PooledConnection(client, (error) => this.#noticeFailure(error, client), this.#options);
      destroySocket(client);
      client.release(true);
    }
  }

  #connect(): Promise<pg.PoolClient> {
    const { tracer } = this.#options;
    if (tracer === null || this.#pool.idleCount > 0) return this.#pool.connect();
    return tracer.part("wait for a connection", "internal", {}, () => this.#pool.connect());
  }

  /** Sends one statement outside of a transaction. */
  async send(query: Query): Promise<Answer> {
    const connection = await this.borrow();
    let failure: Error | boolean = false;
    try {
      return await connection.sendAlone(query);
    } catch (error) {
      if (!leavesConnection(error)) failure = error instanceof Error ? error : true;
      throw error;
    } finally {
      connection.client.release(failure);
    }
  }

  /** A session of the server, for advisory locks and other session state. */
  async withSession<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const session = await this.#openSession();
    return work(session).finally(() => endConnection(session));
  }

  /**
   * A server that is silent on one connection is silent on all that were open then: the host vanished, or a
   * firewall dropped them. A server that became read-only may have failed over to another, which only new
   * connections reach. So the first failure discards all connections.
   */
  #noticeFailure(error: unknown, client: pg.PoolClient): void {
    const state = sqlState(error);
    if (state === "53100") this.#refusedWrite = "disk_full";
    if (state === "25006") this.#refusedWrite = "read_only";
    if (!isAnswerTimeout(error) && state !== "25006") return;
    if (this.#generationOf.get(client) === this.#generation) this.#generation++;
    // Later messages on it, such as a rollback, fail at once instead of waiting as long again.
    if (isAnswerTimeout(error)) destroySocket(client);
  }

  /** All open connections, in use or not. */
  get openConnections(): ReadonlySet<pg.PoolClient> {
    return new Set(this.#generationOf.keys());
  }

  /** Closes connections on which the server is silent. Pending statements fail at once. */
  closeSilent(silent: ReadonlySet<pg.PoolClient>): void {
    for (const client of this.#generationOf.keys()) if (silent.has(client)) destroySocket(client);
  }

  /**
   * Why the last write failed, if the disk was full or the database read-only. Kept until
   * `forgetRefusedWrite`.
   */
  get refusedWrite(): RefusedWrite | null {
    return this.#refusedWrite;
  }

  forgetRefusedWrite(refused: RefusedWrite): void {
    if (this.#refusedWrite === refused) this.#refusedWrite = null;
  }

  /** Open and idle connections, tasks that wait for one, and the limit. */
  get figures(): { open: number; idle: number; waiting: number; limit: number } {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount, limit: options.max };
  }

  /**
   * Resolves when the server has ended every session, so that an embedded server can stop without cutting any
   * off.
   */
  async close(): Promise<void> {
    await this.#pool.end();
    // The pool reports a client as removed when the server has closed its end. A server that never does must
    // not keep the process alive.
    const left = this.#generationOf;
    const gone = Promise.withResolvers<void>();
    const look = () => {
      if (left.size === 0) gone.resolve();
    };
    this.#pool.on("remove", look);
    look();
    const deadline = setTimeout(() => {
      for (const client of left.keys()) destroySocket(client);
      gone.resolve();
    }, 1_000);
    await gone.promise;
    clearTimeout(deadline);
  }
}

import type pg from "pg";
import type { Tracer } from "../lib/tracer.ts";
import { answerLimitMs } from "./connection.ts";
import type { Notification } from "./hints.ts";
import { type Answer, Pipeline, type Query } from "./pipeline.ts";
import { summaryOf } from "./statement-summary.ts";

const beginning: Query = { name: "begin", text: "begin" };

export type SendOptions = {
  tracer: Tracer | null;
  /** Whether statements are prepared under their names. */
  named: boolean;
  /** How long to wait for the answer to a message; 0 waits forever. */
  answerLimitMs: number;
  /**
   * Sent at the start of each transaction through a pooler, because the connection does not keep the
   * settings.
   */
  limits: Query | null;
};

/**
 * A connection of the pool while one caller uses it, with the statements queued for its next message and its
 * open transaction.
 */
export class PooledConnection {
  readonly client: pg.PoolClient;
  readonly #onFailure: (error: unknown) => void;
  readonly #options: SendOptions;
  /** Sent before the next statement, in the same message. Their answers are not read. */
  #queued: Query[] = [];
  /** Sent to listeners after the commit. */
  readonly hints: Notification[] = [];
  #answerLimitMs: number;

  constructor(client: pg.PoolClient, onFailure: (error: unknown) => void, options: SendOptions) {
    this.client = client;
    this.#onFailure = onFailure;
    this.#options = options;
    this.#answerLimitMs = options.answerLimitMs;
  }

  async query(query: Query): Promise<Answer> {
    const [answer] = await this.sendAll([query]);
    if (answer === undefined) throw new Error("a statement was not answered");
    return answer;
  }

  /** Sends one statement outside of a transaction. */
  sendAlone(query: Query): Promise<Answer> {
    if (this.#options.limits !== null) this.queue(this.#options.limits);
    return this.query(query);
  }

  /** Sends the queued statements and then `queries`, in one message. Returns the answers to `queries`. */
  async sendAll(queries: readonly Query[]): Promise<readonly Answer[]> {
    const queued = this.#queued;
    const all = queued.length === 0 ? queries : [...queued, ...queries];
    if (queued.length > 0) this.#queued = [];
    try {
      const answers = await this.#sendTraced(all);
      return queued.length === 0 ? answers : answers.slice(queued.length);
    } catch (error) {
      // Its stack would end at the socket instead of at the caller.
      if (error instanceof Error) Error.captureStackTrace(error);
      this.#onFailure(error);
      throw error;
    }
  }

  #sendTraced(queries: readonly Query[]): Promise<readonly Answer[]> {
    const { tracer, named } = this.#options;
    const send = () => new Pipeline(queries, named).send(this.client, this.#answerLimitMs);
    if (tracer === null) return send();
    const summary = summaryOf(queries.map(({ text }) => text));
    const attributes = {
      "db.system.name": "postgresql" as const,
      "db.query.summary": summary,
      "db.operation.batch.size": queries.length,
    };
    return tracer.part(summary, "client", attributes, send);
  }

  queue(query: Query): void {
    this.#queued.push(query);
  }

  /** Begins a transaction with its first statement. `statementMs` is the limit for each statement in it. */
  async begin(statementMs: number | null): Promise<void> {
    if (statementMs === null) {
      this.#queued.push(...this.#opening);
      return;
    }
    await this.sendAll([
      ...this.#opening,
      { text: `set local statement_timeout = ${Math.trunc(statementMs)}` },
    ]);
    // Set last: the first statement reveals a lost connection, and must not wait that long for it.
    this.#answerLimitMs = answerLimitMs(statementMs);
  }

  get #opening(): readonly Query[] {
    const { limits } = this.#options;
    return limits === null ? [beginning] : [beginning, limits];
  }

  async commit(): Promise<void> {
    if (this.#queued[0] === beginning && this.#queued.length === this.#opening.length) this.#queued = [];
    else await this.query({ name: "commit", text: "commit" });
  }

  async rollBack(): Promise<void> {
    const hasBegun = this.#queued[0] !== beginning;
    this.#queued = [];
    if (hasBegun) await this.query({ text: "rollback" });
  }

  /** Undoes everything since the savepoint, sent or queued. */
  async rollBackTo(savepoint: string): Promise<void> {
    const at = this.#queued.findLastIndex(({ text }) => text === savepoint);
    this.#queued.length = Math.max(at, 0);
    // The queued statements came after the savepoint, or with it.
    if (at < 0) await this.query({ text: `rollback to ${savepoint}` });
  }
}

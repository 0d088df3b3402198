import type pg from "pg";
import Result from "pg/lib/result.js";
import { prepareValue } from "pg/lib/utils.js";

/** A statement as it is sent. One with a name is prepared once for each connection. */
export type Query = { text: string; name?: string; values?: unknown[] };
type Prepared = Query & { values: (string | Buffer | null)[] };

type Connection = pg.Connection & {
  /** Which statements the driver knows to be prepared on this connection, by name. */
  parsedStatements: Record<string, string>;
};

/**
 * Several statements in one message and with one answer (pipelining), so that they cost one round trip instead of one each. PostgreSQL runs
 * them in order, each with a snapshot of its own, and after one that fails none.
 *
 * The driver's own pipelining is a mode of the connection and ends each statement by itself: what follows a failed one would be run, too.
 */
export class Flight {
  readonly #queries: readonly Prepared[];
  readonly #results: pg.QueryResult[] = [];
  #current = new Result();
  readonly #unparsed: Query[] = [];
  #stop: (() => void) | null = null;
  /** The time for the whole answer, of which the driver takes care. */
  readonly query_timeout: number | undefined;
  /** Called by the driver, which also replaces it when the time is over. */
  callback: (error: Error | null, results?: readonly pg.QueryResult[]) => void = () => {};

  constructor(queries: readonly Query[], answerLimitMs: number | undefined) {
    // Before anything is sent: a value that cannot be sent must not leave half of a message behind.
    this.#queries = queries.map((query) => ({ ...query, values: (query.values ?? []).map(prepareValue) }));
    this.query_timeout = answerLimitMs;
  }

  /** For whoever watches what is sent. */
  get text(): string {
    return this.#queries.map(({ text }) => text).join(";\n");
  }

  /** The result of each statement, or the error of the first that failed. */
  send(client: pg.PoolClient): Promise<readonly pg.QueryResult[]> {
    return new Promise((resolve, reject) => {
      this.callback = (error, results) => (error === null ? resolve(results ?? []) : reject(error));
      client.query(this);
    });
  }

  // --- what the driver calls ---------------------------------------------------------------------------------------

  submit(plain: pg.Connection): null {
    const connection = plain as Connection;
    const parsed = () => {
      const query = this.#unparsed.shift();
      if (query?.name !== undefined) connection.parsedStatements[query.name] = query.text;
    };
    connection.on("parseComplete", parsed);
    this.#stop = () => connection.off("parseComplete", parsed);
    connection.stream.cork();
    for (const query of this.#queries) this.#write(connection, query);
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  #write(connection: Connection, query: Prepared): void {
    const { name = "", text, values } = query;
    const isParsed =
      name !== "" &&
      (connection.parsedStatements[name] !== undefined ||
        this.#unparsed.some((other) => other.name === name));
    if (!isParsed) {
      this.#unparsed.push(query);
      connection.parse({ name, text, types: [] }, true);
    }
    connection.bind({ statement: name, values }, true);
    connection.describe({ type: "P", name: "" }, true);
    connection.execute(null, true);
  }

  handleRowDescription(message: { fields: pg.FieldDef[] }): void {
    this.#current.addFields(message.fields);
  }

  handleDataRow(message: { fields: unknown[] }): void {
    this.#current.addRow(this.#current.parseRow(message.fields));
  }

  handleCommandComplete(message: { text: string }): void {
    this.#current.addCommandComplete(message);
    this.#results.push(this.#current);
    this.#current = new Result();
  }

  handleError(error: Error): void {
    this.#stop?.();
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.#stop?.();
    this.callback(null, this.#results);
  }
}

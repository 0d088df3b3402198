import pg from "pg";
import { prepareValue } from "pg/lib/utils.js";
import { answerTimeoutMessage } from "./connection.ts";

/** A statement to send. A named one is prepared once per connection. */
export type Query = { text: string; name?: string; values?: readonly unknown[] };
type Prepared = Query & { values: (string | Buffer | null)[] };

/** Its values in their wire format. Throws if a value cannot be encoded. */
function prepared({ name = "", text, values = [] }: Query): Prepared & { name: string } {
  return { name, text, values: values.map(prepareValue) };
}

export type Row = Record<string, unknown>;
/** Constraint for row types: names are camelCase, so a column name with `_` does not compile. */
export type RowOf<T> = Row & { [K in keyof T]: K extends `${string}_${string}` ? never : unknown };
/** The result of a statement, and the number of rows that it read or wrote. */
export type Answer = { rows: Row[]; rowCount: number };

type Column = { name: string; parse: (text: string) => unknown };
/**
 * The columns of an answer, and an empty row: copies of one object share a hidden class, which makes them
 * faster to fill.
 */
type Columns = { readonly each: readonly Column[]; readonly empty: Row };

type Connection = pg.Connection & {
  /** The statements that the driver has prepared on this connection, by name. */
  parsedStatements: Record<string, string>;
};

/**
 * The columns of prepared statements, by name. PostgreSQL never changes them for a prepared statement (it
 * refuses to run it instead), so they are read once.
 */
const columnsOn = new WeakMap<pg.Connection, Map<string, Columns>>();
const noColumns: Columns = { each: [], empty: {} };

/**
 * Sends several statements in one message (pipelining), so that they cost one round trip. PostgreSQL runs
 * them in order, each with its own snapshot, and stops at the first failure. The driver's pipeline mode ends
 * every statement with a `Sync`, which costs twice the processor time (decision 0015).
 */
export class Pipeline {
  readonly #queries: readonly Prepared[];
  readonly #answers: Answer[] = [];
  #rows: Row[] = [];
  #columns: Columns | undefined;
  #known = new Map<string, Columns>();
  readonly #unparsed: Query[] = [];
  #stop: (() => void) | null = null;
  /** A value that could not be parsed. The rest of the answer must still be read. */
  #unreadable: Error | null = null;
  readonly #reply = Promise.withResolvers<readonly Answer[]>();
  #silence: NodeJS.Timeout | undefined;

  /**
   * With `named` false no statement is prepared under a name, for poolers without support for prepared
   * statements.
   */
  constructor(queries: readonly Query[], named = true) {
    // Encode all values first: a value that cannot be sent must not leave half a message behind.
    this.#queries = queries.map((query) => {
      const ready = prepared(query);
      return named ? ready : { ...ready, name: "" };
    });
  }

  /** For tests that watch what is sent. */
  get text(): string {
    return this.#queries.map(({ text }) => text).join(";\n");
  }

  /**
   * The answer to each statement, or the error of the first that failed. After `answerLimitMs` it fails with
   * the driver's timeout error; 0 waits forever. The driver's own timeout would keep every answer in memory
   * until a major garbage collection.
   */
  send(client: pg.PoolClient, answerLimitMs: number): Promise<readonly Answer[]> {
    client.query(this);
    // Set after the query, so that a message which could not be sent leaves no timer. The driver answers in a
    // later turn.
    if (answerLimitMs > 0)
      this.#silence = setTimeout(() => this.#reply.reject(new Error(answerTimeoutMessage)), answerLimitMs);
    return this.#reply.promise;
  }

  // --- called by the driver ------------------------------------------------------------------------------

  submit(plain: pg.Connection): null {
    const connection = plain as Connection;
    const known = columnsOn.get(connection) ?? this.#known;
    if (known === this.#known) columnsOn.set(connection, known);
    this.#known = known;
    connection.stream.cork();
    for (const query of this.#queries) this.#write(connection, query);
    connection.sync();
    connection.stream.uncork();
    if (this.#unparsed.length > 0) this.#noteParsed(connection);
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
    if (!this.#known.has(name)) connection.describe({ type: "P", name: "" }, true);
    connection.execute(null, true);
  }

  #noteParsed(connection: Connection): void {
    const parsed = () => {
      const query = this.#unparsed.shift();
      if (query?.name) connection.parsedStatements[query.name] = query.text;
    };
    connection.on("parseComplete", parsed);
    this.#stop = () => connection.off("parseComplete", parsed);
  }

  /** The columns of the statement whose answer is being read. */
  get #current(): Columns {
    this.#columns ??= this.#known.get(this.#queries[this.#answers.length]?.name ?? "") ?? noColumns;
    return this.#columns;
  }

  handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    const each = fields.map(({ name, dataTypeID }) => ({
      name: inCamelCase(name),
      parse: pg.types.getTypeParser(dataTypeID, "text"),
    }));
    this.#columns = { each, empty: Object.fromEntries(each.map(({ name }) => [name, null])) };
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(readRow(this.#current, fields));
    } catch (error) {
      this.#unreadable ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const name = this.#queries[this.#answers.length]?.name ?? "";
    if (name !== "" && !this.#known.has(name)) this.#known.set(name, this.#current);
    const count = Number(text.slice(text.lastIndexOf(" ") + 1));
    this.#answers.push({ rows: this.#rows, rowCount: Number.isNaN(count) ? 0 : count });
    this.#rows = [];
    this.#columns = undefined;
  }

  handleError(error: Error): void {
    this.#stop?.();
    clearTimeout(this.#silence);
    this.#reply.reject(error);
  }

  handleReadyForQuery(): void {
    this.#stop?.();
    clearTimeout(this.#silence);
    if (this.#unreadable === null) this.#reply.resolve(this.#answers);
    else this.#reply.reject(this.#unreadable);
  }
}

/** `created_at` becomes `createdAt` in a row: names of the database end here. */
function inCamelCase(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase());
}

function readRow({ each, empty }: Columns, fields: readonly (string | null)[]): Row {
  const row = { ...empty };
  for (let at = 0; at < each.length; at++) {
    const column = each[at];
    const text = fields[at];
    if (column !== undefined && text != null) row[column.name] = column.parse(text);
  }
  return row;
}

import pg from "pg";
import { prepareValue } from "pg/lib/utils.js";
import { silenceMessage } from "./connection.ts";

/** A statement as it is sent. One with a name is prepared once for each connection. */
export type Query = { text: string; name?: string; values?: readonly unknown[] };
type Prepared = Query & { values: (string | Buffer | null)[] };

/** Its values as they travel. Fails where one cannot. */
function prepared({ name = "", text, values = [] }: Query): Prepared & { name: string } {
  return { name, text, values: values.map(prepareValue) };
}

export type Row = Record<string, unknown>;
/** What the type of a row must be: its names are camelCase, and that of a column with `_` does not compile. */
export type RowOf<T> = Row & { [K in keyof T]: K extends `${string}_${string}` ? never : unknown };
/** What a statement gave back, and how many rows it read or wrote. */
export type Answer = { rows: Row[]; rowCount: number };

type Column = { name: string; parse: (text: string) => unknown };
/** The columns of an answer, and a row in which nothing is read yet: objects that begin as its copies have one shape, and are quicker to fill. */
type Columns = { readonly each: readonly Column[]; readonly empty: Row };

type Connection = pg.Connection & {
  /** Which statements the driver knows to be prepared on this connection, by name. */
  parsedStatements: Record<string, string>;
};

/**
 * The columns of prepared statements, by name. PostgreSQL never changes those of a statement that it has prepared (it refuses to run it
 * instead), so they are asked for once.
 */
const columnsOn = new WeakMap<pg.Connection, Map<string, Columns>>();
const noColumns: Columns = { each: [], empty: {} };

/**
 * Statements in one message and with one answer (pipelining), so that several cost one round trip instead of one each. PostgreSQL runs them in
 * order, each with a snapshot of its own, and after one that fails none.
 *
 * The pipeline mode of the driver ends every statement with its own `Sync`, which costs twice the processor time (decision 0015).
 */
export class Pipeline {
  readonly #queries: readonly Prepared[];
  readonly #answers: Answer[] = [];
  #rows: Row[] = [];
  #columns: Columns | undefined;
  #known = new Map<string, Columns>();
  readonly #unparsed: Query[] = [];
  #stop: (() => void) | null = null;
  /** A value that could not be read. The rest of the answer has to be waited for all the same. */
  #unreadable: Error | null = null;
  readonly #reply = Promise.withResolvers<readonly Answer[]>();
  #silence: NodeJS.Timeout | undefined;

  /** With `named` false nothing is prepared for later, for poolers that do not keep apart what each of their clients has prepared. */
  constructor(queries: readonly Query[], named = true) {
    // Before anything is sent: a value that cannot be sent must not leave half of a message behind.
    this.#queries = queries.map((query) => {
      const ready = prepared(query);
      return named ? ready : { ...ready, name: "" };
    });
  }

  /** Read by tests that watch what is sent. */
  get text(): string {
    return this.#queries.map(({ text }) => text).join(";\n");
  }

  /**
   * The answer to each statement, or the error of the first that failed. After `answerLimitMs` it fails with the driver's
   * error for silence; 0 waits for ever. The driver's own limit keeps every answer in memory until V8 collects old objects.
   */
  send(client: pg.PoolClient, answerLimitMs: number): Promise<readonly Answer[]> {
    client.query(this);
    // Afterwards, so that a message which could not be sent leaves no timer behind. The driver answers in a later turn.
    if (answerLimitMs > 0)
      this.#silence = setTimeout(() => this.#reply.reject(new Error(silenceMessage)), answerLimitMs);
    return this.#reply.promise;
  }

  // --- what the driver calls ---------------------------------------------------------------------------------------

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

/** `created_at` is `createdAt` in a row: names of the database stop here. */
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

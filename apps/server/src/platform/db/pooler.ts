import { randomBytes } from "node:crypto";
import pg from "pg";
import { ExplainedError } from "../lib/explained-error.ts";
import { sqlState } from "../lib/sql-state.ts";
import { endConnection, openConnection } from "./connection.ts";

/**
 * What is between us and the server: nothing, a pooler that lends a connection of the server for a whole session, or one that lends it for a transaction and then to
 * somebody else.
 */
export type Pooler = "none" | "session" | "transaction";

const rounds = 3;
// Nothing that is asked here takes a server more than a moment, and a start waits for it.
const limits = { statementMs: 5_000, lockMs: 5_000, idleInTransactionMs: 5_000, connectMs: 10_000 };

/**
 * Looks what a connection leads through. The server names its process when a connection is opened, and names the same one when it is asked; a pooler gives a number of its own.
 * Whether the pooler keeps the session is seen with a second connection: two that are open at once have the same process of the server, or one has another than before.
 */
export async function findPooler(client: pg.Client, openAnother: () => Promise<pg.Client>): Promise<Pooler> {
  const own = await processOf(client);
  if (own === (client as unknown as { processID: number | null }).processID) return "none";
  const other = await openAnother();
  try {
    for (let round = 0; round < rounds; round++) {
      const before = await processOf(client);
      // In a transaction it keeps what it has; the pooler gives the connection that was given back last.
      await other.query("begin");
      const others = await processOf(other);
      if (others === before || (await processOf(client)) !== before) return "transaction";
      await other.query("rollback");
    }
    return "session";
  } finally {
    await endConnection(other);
  }
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return Number(rows[0]?.pid);
}

/**
 * Whether each connection through the pooler has prepared statements of its own. Where it does not, one finds the names of another, or misses its own: as errors 42P05 and 26000, by chance.
 */
async function keepsNamesApart(open: () => Promise<pg.Client>): Promise<boolean> {
  const statement = { name: `assay_${randomBytes(8).toString("hex")}`, text: "select 1" };
  const clients: pg.Client[] = [];
  try {
    for (let count = 0; count < 2; count++) {
      const client = await open();
      clients.push(client);
      await client.query(statement);
    }
    for (const client of clients) await client.query(statement);
    return true;
  } catch (error) {
    if (!["42P05", "26000"].includes(sqlState(error) ?? "")) throw error;
    await clients[0]?.query(`deallocate ${pg.escapeIdentifier(statement.name)}`).catch(() => {});
    return false;
  } finally {
    for (const client of clients) await endConnection(client);
  }
}

/** What an address leads through, and whether names of statements can be used on the way. */
export async function examinePooler(url: string): Promise<{ pooler: Pooler; namesApart: boolean }> {
  const open = () => openConnection(url, "assay start", limits, { pooled: true });
  const client = await open();
  try {
    const pooler = await findPooler(client, open);
    return { pooler, namesApart: pooler !== "transaction" || (await keepsNamesApart(open)) };
  } finally {
    await endConnection(client);
  }
}

/** Says in a sentence why the service cannot work through this pooler. */
export class PoolerError extends ExplainedError {
  constructor(message: string) {
    super(message);
    this.name = "PoolerError";
  }
}

/** Fails where statements would fail through this pooler, by chance and later. */
export async function checkPooler(url: string, preparedStatements: "named" | "off"): Promise<void> {
  if (preparedStatements === "off" || (await examinePooler(url)).namesApart) return;
  throw new PoolerError(
    "The pooler that DATABASE_URL leads through does not keep the prepared statements of its clients apart. Set DATABASE_PREPARED_STATEMENTS=off, or let it do so (PgBouncer 1.21 or later: max_prepared_statements = 200).",
  );
}

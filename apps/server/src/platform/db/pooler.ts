import { randomBytes } from "node:crypto";
import pg from "pg";
import { ExplainedError } from "../lib/explained-error.ts";
import { sqlState } from "../lib/sql-state.ts";
import { endConnection, openConnection } from "./connection.ts";

/** What is between this process and the server: nothing, or a pooler in session or in transaction mode. */
export type Pooler = "none" | "session" | "transaction";

const rounds = 3;
// Every query here is fast, and a start waits for it.
const limits = { statementMs: 5_000, lockMs: 5_000, idleInTransactionMs: 5_000, connectMs: 10_000 };

/**
 * Detects a pooler. A server reports its process id when a connection opens and returns the same one to a
 * query; a pooler reports another number. A second connection shows the mode: in transaction mode two open
 * connections share a server process, or the process of one changes.
 */
export async function findPooler(client: pg.Client, openAnother: () => Promise<pg.Client>): Promise<Pooler> {
  const own = await processOf(client);
  if (own === (client as unknown as { processID: number | null }).processID) return "none";
  const other = await openAnother();
  try {
    for (let round = 0; round < rounds; round++) {
      const before = await processOf(client);
      // In a transaction it keeps its server connection; the pooler hands out the one that was returned last.
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
 * Whether each connection through the pooler has its own prepared statements. Otherwise statements fail at
 * random with 42P05 and 26000, because clients see each other's names.
 */
async function checkPreparedStatements(open: () => Promise<pg.Client>): Promise<boolean> {
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

/** The kind of pooler behind an address, and whether named statements work through it. */
export async function examinePooler(
  url: string,
): Promise<{ pooler: Pooler; supportsPreparedStatements: boolean }> {
  const open = () => openConnection(url, "assay start", limits, { pooled: true });
  const client = await open();
  try {
    const pooler = await findPooler(client, open);
    return {
      pooler,
      supportsPreparedStatements: pooler !== "transaction" || (await checkPreparedStatements(open)),
    };
  } finally {
    await endConnection(client);
  }
}

/** Fails early if statements would fail later, at random, through this pooler. */
export async function checkPooler(url: string, preparedStatements: "named" | "off"): Promise<void> {
  if (preparedStatements === "off" || (await examinePooler(url)).supportsPreparedStatements) return;
  throw new ExplainedError(
    "The pooler behind DATABASE_URL does not support prepared statements. Set DATABASE_PREPARED_STATEMENTS=off, or enable them in the pooler (PgBouncer 1.21 or later: max_prepared_statements = 200).",
  );
}

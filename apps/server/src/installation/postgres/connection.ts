import type { Socket } from "node:net";
import pg from "pg";
import { sqlState } from "../../lib/sql-state.ts";

export const user = "assay";
export const database = "assay";
/** The port only names the socket file; nothing listens on the network. */
export const port = 5432;

export function socketUrl(socketFolder: string, name: string): string {
  const query = new URLSearchParams({ host: socketFolder, port: String(port), user });
  return `postgresql:///${encodeURIComponent(name)}?${query}`;
}

/**
 * Why a server gives no connection. "busy": it starts, stops or recovers. "full": it runs, but has no connection left.
 * "silent": nothing answers, or it went away while it was asked.
 */
export type NoConnection = "busy" | "full" | "silent";

/** Connects to the database `postgres`, which every cluster has, and creates ours when it is missing. */
export async function connect(socketFolder: string, patienceMs = 5_000): Promise<pg.Client | NoConnection> {
  const client = new pg.Client({
    host: socketFolder,
    port,
    user,
    database: "postgres",
    application_name: "assay launcher",
    connectionTimeoutMillis: patienceMs,
    // A server process that hangs must not make the caller hang too.
    query_timeout: 2 * patienceMs,
  });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    // 53300 is too_many_connections, 57P03 cannot_connect_now.
    const state = sqlState(error);
    return state === "53300" ? "full" : state === "57P03" ? "busy" : "silent";
  }
  try {
    const found = await client.query("select from pg_database where datname = $1", [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  } catch (error) {
    // 42P04 (duplicate_database) and 23505 (unique_violation): another process created it first.
    if (!["42P04", "23505"].includes(sqlState(error) ?? "")) {
      await client.end().catch(() => {});
      // The server went away in between; the caller finds out why.
      return "silent";
    }
  }
  return client;
}

/** Sets whether this connection alone keeps the Node process from ending. */
export function keepsProcessAlive(client: pg.Client, alive: boolean): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  if (alive) stream.ref();
  else stream.unref();
}

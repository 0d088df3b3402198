import type { Socket } from "node:net";
import pg from "pg";
import { sqlState } from "../../lib/sql-state.ts";
import { adminRole, port } from "./address.ts";
import type { Cluster } from "./cluster.ts";
import { readPasswords } from "./passwords.ts";

/**
 * Why there is no connection. "busy": the server starts, stops or recovers. "full": it has no free
 * connection. "refused": it rejects the password. "silent": nothing answers, or the server ended meanwhile.
 */
export type NoConnection = "busy" | "full" | "refused" | "silent";

/** Connects as the superuser, by default to the database `postgres`, which every cluster has. */
export async function connect(
  cluster: Cluster,
  { patienceMs = 5_000, to = "postgres" }: { patienceMs?: number; to?: string } = {},
): Promise<pg.Client | NoConnection> {
  const passwords = (await readPasswords(cluster)) ?? cluster.passwords;
  const client = new pg.Client({
    host: cluster.socketFolder,
    port,
    user: adminRole,
    // Before the first passwords are set, the server requires none. The client fails on an empty one, which
    // would look like silence.
    password: passwords?.admin ?? "none",
    database: to,
    application_name: "assay launcher",
    connectionTimeoutMillis: patienceMs,
    // A hanging server process must not block the caller.
    query_timeout: 2 * patienceMs,
  });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    // 53300 is too_many_connections, 57P03 cannot_connect_now, class 28 invalid authorization.
    const state = sqlState(error);
    if (state?.startsWith("28") === true) return "refused";
    return state === "53300" ? "full" : state === "57P03" ? "busy" : "silent";
  }
  return client;
}

/** Sets whether this connection keeps the Node process alive. */
export function keepsProcessAlive(client: pg.Client, alive: boolean): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  if (alive) stream.ref();
  else stream.unref();
}

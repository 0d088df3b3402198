import { rm, symlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { copyServer } from "./copy-server.ts";
import { newFolder } from "./held-postgres.ts";
import { killServer } from "./postgres-processes.ts";

const settings = {
  max_wal_senders: "4",
  // Commits are acknowledged as in production. Settings that matter only if a machine is lost are off.
  synchronous_commit: "on",
  full_page_writes: "on",
};
const quiet = { env: process.env, log: () => {}, durable: false };

/** A server and a streaming replica of it, on sockets; each commit waits until the replica has it. */
export async function startPair() {
  const folder = await newFolder();
  const primaryDir = path.join(folder, "data");
  const primary = await startEmbeddedPostgres({ ...quiet, dataDir: primaryDir, settings });
  const admin = await connect(primary.adminUrl);
  const standbyDir = path.join(await newFolder(), "data");
  await copyServer(admin, primaryDir, standbyDir);
  const conninfo = ["host", "port", "user", "password"].map(
    (name) => `${name}=${new URL(primary.adminUrl).searchParams.get(name)}`,
  );
  const standby = await startEmbeddedPostgres({
    ...quiet,
    dataDir: standbyDir,
    settings: {
      ...settings,
      primary_conninfo: `${conninfo.join(" ")} application_name=replica`,
    },
  });
  await admin.query("alter system set synchronous_standby_names = 'replica'");
  await admin.query("select pg_reload_conf()");
  while ((await admin.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount !== 1)
    await wait(20);
  await admin.end();
  const way = path.join(folder, "way");
  await symlink(primary.host, way);
  const url = new URL(primary.url);
  url.searchParams.set("host", way);
  return {
    /** A stable address, like that of a proxy. It leads to the first server until `leadToStandby`. */
    url: url.href,
    async leadToStandby(): Promise<void> {
      await rm(way);
      await symlink(standby.host, way);
    },
    primaryUrl: primary.adminUrl,
    standbyUrl: standby.adminUrl,
    /** Kills the first server for good. */
    async losePrimary(): Promise<void> {
      killServer(primaryDir);
      await primary.stop();
    },
    /** Call it after their users have ended: a service signs off at the database. */
    async close(): Promise<void> {
      await Promise.all([standby.stop(), primary.stop()]);
    },
  };
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

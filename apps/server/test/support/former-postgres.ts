import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { type Cluster, prepareCluster } from "../../src/platform/installation/postgres/cluster.ts";
import { readLockFile } from "../../src/platform/installation/postgres/lock-file.ts";
import { sendSignal } from "../../src/platform/installation/postgres/processes.ts";
import { spawnProgram } from "../../src/platform/installation/postgres/program.ts";
import { copiedDataDir, query } from "./held-postgres.ts";

/** A data folder of releases that asked for no password: everyone who reached the socket was a superuser. */
export function formerDataDir(): Promise<string> {
  return copiedDataDir(makeFormer);
}

async function makeFormer(dataDir: string): Promise<void> {
  const cluster = await placeOf(dataDir);
  const flags = ["--username=assay", "--auth=trust", "--wal-segsize=1", "--encoding=UTF8", "--locale=C"];
  const initdb = spawnProgram(
    cluster,
    "initdb",
    [`--pgdata=${cluster.data}`, ...flags, "--no-sync"],
    ["ignore", "ignore", "pipe"],
  );
  const [code] = await once(initdb, "close");
  if (code !== 0) throw new Error("initdb failed");
}

const placeOf = (dataDir: string): Promise<Cluster> =>
  prepareCluster({ dataDir, env: process.env, log: () => {} });

/** Starts the server as those releases did. `url` is the address that they used. */
export async function startFormerPostgres(
  dataDir: string,
): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const cluster = await placeOf(dataDir);
  const settings = { listen_addresses: "", unix_socket_directories: cluster.socketFolder, fsync: "off" };
  const child = spawnProgram(
    cluster,
    "postgres",
    ["-D", cluster.data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    ["ignore", "ignore", "pipe"],
  );
  child.stderr?.resume();
  const ended = once(child, "close");
  const address = (name: string) =>
    `postgresql:///${name}?${new URLSearchParams({ host: cluster.socketFolder, user: "assay" })}`;
  while ((await readLockFile(cluster.data))?.status !== "ready") {
    if (child.exitCode !== null) throw new Error("the server did not start");
    await wait(20);
  }
  const found = await query(address("postgres"), "select from pg_database where datname = 'assay'");
  if (found.length === 0) await query(address("postgres"), "create database assay");
  return {
    url: address("assay"),
    pid: child.pid ?? 0,
    async stop() {
      sendSignal(child.pid ?? 0, "SIGINT");
      await ended;
    },
  };
}

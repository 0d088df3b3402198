import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { hasCode, ignoring } from "../../lib/error-code.ts";
import { ExplainedError } from "../../lib/explained-error.ts";
import { syncToDisk } from "../sync-to-disk.ts";
import { adminRole, orUseAnotherServer } from "./address.ts";
import { bundledMajor } from "./binaries.ts";
import { type Cluster, makeOwnFolder } from "./cluster.ts";
import { isAlive } from "./processes.ts";
import { LastLines, spawnProgram } from "./program.ts";

/**
 * Creates the data folder if there is none, and refuses one of another major version. It is created under
 * another name and renamed at the end, so that an incomplete data folder never has the final name.
 */
export async function ensureDataFolder(cluster: Cluster): Promise<void> {
  const found = await readFile(path.join(cluster.data, "PG_VERSION"), "utf8").catch(ignoring("ENOENT"));
  const bundled = bundledMajor(cluster.native);
  if (found !== undefined) {
    if (found.trim() === bundled) return;
    throw new ExplainedError(
      `${cluster.data} was created by PostgreSQL ${found.trim()}, but this version of Assay brings PostgreSQL ${bundled}. ` +
        `The data is untouched. Go back to the previous version of Assay, and read its upgrade notes. ${orUseAnotherServer}`,
    );
  }
  if (existsSync(cluster.data)) {
    throw new ExplainedError(
      `${cluster.data} exists but has no PostgreSQL data (no PG_VERSION). Move it away, or restore a backup.`,
    );
  }
  await removeAbandonedAttempts(cluster.base);
  const attempt = path.join(cluster.base, `data.new-${process.pid}-${randomBytes(6).toString("hex")}`);
  await makeOwnFolder(attempt, cluster.runner.account);
  cluster.options.log("creating the database (first start only)", "info");
  try {
    await runInitdb(cluster, attempt);
    try {
      await rename(attempt, cluster.data);
    } catch (error) {
      // Another process was first, and its folder is equivalent.
      if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
    }
  } finally {
    await rm(attempt, { recursive: true, force: true });
  }
  await syncToDisk(cluster.base);
}

function runInitdb(cluster: Cluster, folder: string): Promise<void> {
  const flags = [
    `--pgdata=${folder}`,
    `--username=${adminRole}`,
    // The server starts with our own file instead of this one (`access.ts`). Without that file nothing can
    // connect.
    "--auth=reject",
    // A new segment of the write-ahead log is filled with zeros while every commit waits: 40 ms for 16 MiB.
    // Used segments are not recycled (`start-server.ts`).
    "--wal-segsize=1",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
    "--no-instructions",
    ...(cluster.options.durable === false ? ["--no-sync"] : []),
  ];
  const child = spawnProgram(cluster, "initdb", flags, ["ignore", "pipe", "pipe"]);
  const output = new LastLines();
  child.stdout?.on("data", (chunk: Buffer) => output.add(chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.add(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve();
      const nameless = /look up effective user/.test(output.text());
      const help = nameless ? ` This user id needs an entry in /etc/passwd. ${orUseAnotherServer}` : "";
      reject(new ExplainedError(`The database could not be created: ${output.text()}${help}`));
    });
  });
}

async function removeAbandonedAttempts(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = /^data\.new-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid))) {
      // A terminated initdb may still write while we remove its folder. A later first start removes what is
      // left.
      const patient = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
      await rm(path.join(base, name), patient).catch(ignoring("ENOTEMPTY"));
    }
  }
}

/** The identity of the cluster: the first number in the control file, in the byte order of the machine. */
export async function systemIdentifier(data: string): Promise<string> {
  const file = await open(path.join(data, "global", "pg_control"), "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readBigUInt64LE().toString();
  } finally {
    await file.close();
  }
}

import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type pg from "pg";
import { embeddedFolders } from "../../src/platform/installation/postgres/cluster.ts";
import { ignoring } from "../../src/platform/lib/error-code.ts";

/** Makes a standby of a running server by copying its files with the server's replication protocol. */
export async function copyServer(admin: pg.Client, from: string, to: string): Promise<void> {
  await admin.query("select pg_backup_start('test', true)");
  await copyFolder(from, to);
  const { rows } = await admin.query<{ labelfile: string }>(
    "select labelfile from pg_backup_stop(wait_for_archive => false)",
  );
  const { data } = embeddedFolders(to);
  await writeFile(path.join(data, "backup_label"), rows[0]?.labelfile ?? "");
  await writeFile(path.join(data, "standby.signal"), "");
}

const isItsOwn = (name: string) => /postmaster\.(pid|opts)$|\.s\.PGSQL|owner/.test(name);

/** A running server removes files meanwhile; they are not needed. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (isItsOwn(entry.name)) continue;
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target).catch(ignoring("ENOENT"));
    else if (entry.isFile()) await copyFile(source, target).catch(ignoring("ENOENT"));
  }
}

import { type Db, openDb } from "../../apps/server/src/platform/db/db.ts";
import { migrate } from "../../apps/server/src/platform/db/migrate.ts";

export function openDatabase(url: string): Db {
  return openDb({ url, poolSize: 4, onError: () => {} });
}

/** One without tables, beside the one that `adminUrl` names. */
export async function emptyDatabase(adminUrl: string, name: string): Promise<string> {
  const admin = openDatabase(adminUrl);
  await admin.withConnection((client) => client.query(`create database ${name}`));
  await admin.close();
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The same with every table. */
export async function createDatabase(adminUrl: string, name: string): Promise<Db> {
  const url = await emptyDatabase(adminUrl, name);
  await migrate(url);
  return openDatabase(url);
}

import { type Db, openDb } from "../../apps/server/src/platform/db/db.ts";
import { migrate } from "../../apps/server/src/platform/db/migrate.ts";

export function openDatabase(url: string): Db {
  return openDb({ url, poolSize: 4, onError: () => {} });
}

/** An empty one with every table, beside the one that `adminUrl` names. */
export async function createDatabase(adminUrl: string, name: string): Promise<Db> {
  const admin = openDatabase(adminUrl);
  await admin.withConnection((client) => client.query(`create database ${name}`));
  await admin.close();
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  await migrate(url.href);
  return openDatabase(url.href);
}

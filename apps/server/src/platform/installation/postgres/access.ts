import { lchown, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { ignoring } from "../../lib/error-code.ts";
import { adminRole, database } from "./address.ts";
import type { Cluster } from "./cluster.ts";
import { connect } from "./connection.ts";
import { newPasswords, readPasswords, replaceFile, writePasswords } from "./passwords.ts";
import {
  accessFileOf,
  handOverDatabase,
  isStandby,
  readAt,
  rereadAccess,
  settingUpAlone,
  setUpRoles,
} from "./roles.store.ts";

const asksForPasswords = "local all all scram-sha-256\nlocal replication all scram-sha-256\n";
/** Only until the first passwords are set; the socket is in a folder that only this user can enter. */
const asksNothing = `local all ${adminRole} trust\n${asksForPasswords}`;

/**
 * Who may connect, and how. The server starts with this file; only earlier releases use the one in its data
 * folder.
 */
export const accessFile = (cluster: Cluster): string => path.join(cluster.base, "pg_hba.conf");

/** Before a start: if the passwords are known, the server requires them. */
export async function writeAccessFile(cluster: Cluster): Promise<void> {
  const wanted = (await readPasswords(cluster)) === null ? asksNothing : asksForPasswords;
  const file = accessFile(cluster);
  const { account } = cluster.runner;
  const handOver = async (name: string) => {
    if (account !== null) await lchown(name, account.uid, account.gid);
  };
  // If the file is already correct, a full disk must not prevent a start. A copy that root made is root's.
  if ((await readFile(file, "utf8").catch(ignoring("ENOENT"))) === wanted) await handOver(file);
  else await replaceFile(file, wanted, handOver);
}

/**
 * Creates the roles and our database, and sets passwords if none are known, as in a new or a restored folder.
 * Steps can be repeated and the password file is written last, so the next start completes an interrupted
 * setup. `hold` is the relation to the server: a guest only sets missing passwords.
 */
export async function ensureAccess(
  cluster: Cluster,
  admin: pg.Client,
  hold: "started" | "adopted" | "guest",
): Promise<void> {
  const known = await readPasswords(cluster);
  if (known !== null) cluster.passwords = known;
  if ((known !== null && hold === "guest") || (await isStandby(admin))) return;
  await settingUpAlone(admin, async () => {
    // Another process may have set them while this one waited.
    const found = await readPasswords(cluster);
    const passwords = found ?? cluster.passwords ?? newPasswords();
    await setUpRoles(admin, found === null ? passwords : null);
    const inside = await connect(cluster, { to: database });
    if (typeof inside === "string")
      throw new Error(`the database ${database} accepts no connection: ${inside}`);
    try {
      await handOverDatabase(inside);
    } finally {
      await inside.end().catch(() => {});
    }
    if (found === null) await writePasswords(cluster, passwords);
    cluster.passwords = passwords;
    if (found === null || hold === "adopted") await askForPasswords(cluster, admin);
  });
}

/**
 * With half, a busy machine may not have read the file yet. With twice, a start that has to be retried is
 * retried later.
 */
const rereadMs = 10_000;

/**
 * Resolves when the server requires passwords. A server that an earlier release started does so after its
 * next start.
 */
async function askForPasswords(cluster: Cluster, admin: pg.Client): Promise<void> {
  await writeAccessFile(cluster);
  if ((await accessFileOf(admin)) !== accessFile(cluster)) return;
  const before = await readAt(admin);
  await rereadAccess(admin);
  for (const deadline = Date.now() + rereadMs; Date.now() < deadline; await wait(5)) {
    // A new connection sees what the server has read.
    const client = await connect(cluster);
    if (typeof client === "string") continue;
    const now = await readAt(client);
    await client.end().catch(() => {});
    if (now !== before) return;
  }
  throw new Error("PostgreSQL did not reload its access rules");
}

import { lchown, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { ignoring } from "../../lib/error-code.ts";
import { adminRole, database } from "./address.ts";
import { connect } from "./connection.ts";
import { newPasswords, readPasswords, replaceFile, writePasswords } from "./passwords.ts";
import type { Place } from "./place.ts";
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

/** Who may connect, and how. The server is started with this file; the one in its data folder counts for releases before this one only. */
export const accessFile = (place: Place): string => path.join(place.base, "pg_hba.conf");

/** Before a start: a server whose passwords are known asks for them. */
export async function writeAccessFile(place: Place): Promise<void> {
  const wanted = (await readPasswords(place)) === null ? asksNothing : asksForPasswords;
  const file = accessFile(place);
  // A full disk must not keep a server from starting whose file is as it should be.
  if ((await readFile(file, "utf8").catch(ignoring("ENOENT"))) === wanted) return;
  const { account } = place.runner;
  await replaceFile(file, wanted, async (fresh) => {
    if (account !== null) await lchown(fresh, account.uid, account.gid);
  });
}

/**
 * Makes the roles and our database, and sets passwords where none are known: in a new folder, one of a release that asked for none, and a restored
 * one. Each step may be repeated and the file with the passwords is written last, so after a kill in between the next start does it again.
 *
 * `hold` says what this process has to do with the server. As a guest it sets passwords where there are none, and changes nothing else.
 */
export async function ensureAccess(
  place: Place,
  admin: pg.Client,
  hold: "started" | "adopted" | "guest",
): Promise<void> {
  const known = await readPasswords(place);
  if (known !== null) place.passwords = known;
  if ((known !== null && hold === "guest") || (await isStandby(admin))) return;
  await settingUpAlone(admin, async () => {
    // Another process may have set them while this one waited.
    const found = await readPasswords(place);
    const passwords = found ?? place.passwords ?? newPasswords();
    await setUpRoles(admin, found === null ? passwords : null);
    const inside = await connect(place, { to: database });
    if (typeof inside === "string")
      throw new Error(`the database ${database} gives no connection: ${inside}`);
    try {
      await handOverDatabase(inside);
    } finally {
      await inside.end().catch(() => {});
    }
    if (found === null) await writePasswords(place, passwords);
    place.passwords = passwords;
    if (found === null || hold === "adopted") await askForPasswords(place, admin);
  });
}

/** Half: a busy machine may not have read the file yet. Twice: a start that has to be tried again is tried later. */
const rereadMs = 10_000;

/** Returns when the server asks for passwords. One that a release before this one started does so after its next start. */
async function askForPasswords(place: Place, admin: pg.Client): Promise<void> {
  await writeAccessFile(place);
  if ((await accessFileOf(admin)) !== accessFile(place)) return;
  const before = await readAt(admin);
  await rereadAccess(admin);
  for (const deadline = Date.now() + rereadMs; Date.now() < deadline; await wait(5)) {
    // A new connection knows what the server itself has read.
    const client = await connect(place);
    if (typeof client === "string") continue;
    const now = await readAt(client);
    await client.end().catch(() => {});
    if (now !== before) return;
  }
  throw new Error("PostgreSQL did not read again who may connect");
}

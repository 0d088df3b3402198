import { foldEmail } from "@assay/contract/email";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import {
  isTakenEmail,
  listUnfoldedEmails,
  lockFolding,
  setEmailAside,
  setFoldedEmail,
} from "./user.store.ts";

const batchSize = 500;

/**
 * Gives accounts that an earlier version wrote the folded form of their address; nobody is found without it. An address that is none
 * by today's rules, and the second of two that fold alike, is set aside: the account, its sessions and its memberships stay, the
 * operator is told and gives it another address. Returns how many accounts it has looked at.
 */
export async function foldEmails({ db, clock, log }: Pick<Core, "db" | "clock" | "log">): Promise<number> {
  const foldBatch = async (tx: Tx) => {
    await lockFolding(tx);
    const users = await listUnfoldedEmails(tx, batchSize);
    for (const user of users) {
      const folded = foldEmail(user.email);
      if (folded !== null && (await setFoldedEmail(tx, user.id, folded))) continue;
      await setEmailAside(tx, user.id, clock.now());
      log.warn(
        folded === null
          ? "the e-mail of an account is not an address that this version knows; the account no longer signs in with it"
          : "the e-mail of an account is the same as that of another one; the account no longer signs in with it",
        { userId: user.id, whatToDo: "assay user set-email" },
      );
    }
    return users.length;
  };
  try {
    return await db.transaction(foldBatch);
  } catch (error) {
    // Somebody has signed up with one of these addresses at this very moment; in the next run it is seen.
    if (isTakenEmail(error)) return 1;
    throw error;
  }
}

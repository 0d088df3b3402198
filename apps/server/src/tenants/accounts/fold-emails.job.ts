import { foldEmail } from "@assay/contract/email";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import {
  listUnfoldedEmails,
  lockFolding,
  setEmailAside,
  setFoldedEmail,
  type UnfoldedEmailRow,
} from "./user.store.ts";

const batchSize = 500;

/**
 * Gives accounts that an earlier version wrote the folded form of their address; nobody is found without it. An address that is none
 * by today's rules, and the second of two that fold alike, is set aside: the account, its sessions and its memberships stay, the
 * operator is told and gives it another address. Returns how many accounts it has looked at.
 */
export function foldEmails(core: Pick<Core, "clock" | "log" | "setAside">, job: string): Promise<number> {
  return core.setAside.rowsOf(job, "users").run(batchSize, {
    take: async (tx, among) => {
      await lockFolding(tx);
      return listUnfoldedEmails(tx, among);
    },
    handle: (tx, users) => fold(core, tx, users),
  });
}

async function fold(
  { clock, log }: Pick<Core, "clock" | "log">,
  tx: Tx,
  users: readonly UnfoldedEmailRow[],
): Promise<void> {
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
}

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
 * Sets the folded address of accounts from an earlier version, which sign-in needs. An invalid address, or
 * the second of two that fold alike, is set aside. Such an account keeps everything, and the operator gives
 * it another address. Returns the number of accounts read.
 */
export function foldEmails(core: Pick<Core, "clock" | "log" | "quarantine">, job: string): Promise<number> {
  return core.quarantine.rowsOf(job, "users").run(batchSize, {
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
        ? "the e-mail of an account is not valid in this version; the account can no longer sign in with it"
        : "the e-mail of an account equals that of another one; the account can no longer sign in with it",
      { userId: user.id, whatToDo: "assay user set-email" },
    );
  }
}

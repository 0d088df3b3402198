import type { UserId } from "@assay/contract/ids";
import type { Tx } from "../../platform/db/db.ts";
import type { Removed } from "../../platform/mails/letter.ts";
import { removeMailedTokens } from "./mailed-token.store.ts";
import { removePasskeysOf } from "./passkey.store.ts";
import { removeSecondFactor, removeUnconfirmedSecret } from "./second-factor.store.ts";
import { removeOtherUserSessions } from "./user.store.ts";

/**
 * Removes what someone other than the proven owner of the mailbox could have added. Passkeys sign in without
 * password and code, so they always go. A second factor stays if the address was proven before: otherwise
 * reading the mailbox would bypass it. Returns what the notice must mention.
 */
export async function removeSignInMethods(
  tx: Tx,
  userId: UserId,
  { isFirstProof }: { isFirstProof: boolean },
): Promise<Removed[]> {
  await removeOtherUserSessions(tx, userId, null);
  await removeMailedTokens(tx, userId, ["magic_link", "reset_password", "verify_email", "change_email"]);
  const removed: Removed[] = [];
  const passkeys = await removePasskeysOf(tx, userId);
  if (passkeys.length > 0) {
    const names = passkeys.map((name) => `“${name}”`).join(", ");
    removed.push({ what: "passkeys", names });
  }
  if (!isFirstProof) await removeUnconfirmedSecret(tx, userId);
  else if (await removeSecondFactor(tx, userId)) removed.push({ what: "second_factor" });
  return removed;
}

import type { Core } from "../core.ts";
import { newUuid } from "../kernel/ids.ts";
import { countMail } from "./limit-guesses.ts";
import { insertMailRequest, type MailRequestPurpose } from "./mailed-token.store.ts";

/** The channel on which waiting requests are announced. */
export const mailRequestChannel = "assay_mail_requests";

/**
 * Notes that somebody wants a link mailed to `email`. Whether there is such an account is found out later, so neither the
 * answer nor the time it takes tells.
 */
export async function requestLink(
  core: Core,
  purpose: MailRequestPurpose,
  email: string,
  address: string,
): Promise<{ accepted: true }> {
  if (await countMail(core, email, { address })) {
    const now = core.clock.now();
    const id = newUuid(now);
    await core.db.transaction(async (tx) => {
      await insertMailRequest(tx, { id, purpose, email: core.ring.seal("mail", email, id), now });
      await tx.notify(mailRequestChannel, "");
    });
  }
  return { accepted: true };
}

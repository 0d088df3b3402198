import type { FoldedEmail } from "@assay/contract/email";
import type { Core } from "../../platform/core.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import { countMail } from "./limit-guesses.ts";
import { insertMailRequest, type MailRequestPurpose } from "./mailed-token.store.ts";

/** NOTIFY channel: mail requests are waiting. The payload is empty. */
export const mailRequestChannel = "assay_mail_requests";

/**
 * Records that a link to `email` was requested. A background job looks up the account, so that neither the
 * answer nor its duration reveals whether it exists.
 */
export async function requestLink(
  core: Pick<Core, "db" | "clock" | "ring">,
  purpose: MailRequestPurpose,
  email: FoldedEmail,
  address: string,
): Promise<{ accepted: true }> {
  if (await countMail(core, email, { address })) {
    const now = core.clock.now();
    const id = newUuid(now);
    await core.db.transaction(async (tx) => {
      await insertMailRequest(tx, { id, purpose, email: core.ring.seal("mail", email, id), now });
      tx.notify(mailRequestChannel, "");
    });
  }
  return { accepted: true };
}

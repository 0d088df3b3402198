import type { Core } from "../core.ts";
import { newUuid } from "../lib/ids.ts";
import { describeError } from "../lib/log.ts";
import { countMail } from "./limit-guesses.ts";
import { mailLink } from "./mail-link.ts";
import {
  insertMailRequest,
  type MailRequestPurpose,
  type MailRequestRow,
  takeMailRequests,
} from "./mailed-token.store.ts";
import { findUserByEmail } from "./user.store.ts";

/** The channel on which waiting requests are announced. */
export const mailRequestChannel = "assay_mail_requests";

const batchSize = 20;

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

/** Mails the links that were asked for. Request, token and mail change in one transaction: each is answered once. */
export function answerMailRequests(core: Core): Promise<number> {
  return core.db.transaction(async (tx) => {
    const requests = await takeMailRequests(tx, batchSize);
    for (const request of requests) {
      const email = openEmail(core, request);
      const user = email === null ? null : await findUserByEmail(tx, email);
      if (user !== null) await mailLink(core, tx, user, request.purpose, user.email);
    }
    return requests.length;
  });
}

/** A request whose key has left the ring is dropped: it must not hold up the others for ever. */
function openEmail({ ring, log }: Core, request: MailRequestRow): string | null {
  try {
    return ring.openText("mail", request.email, request.id);
  } catch (error) {
    log.warn("a request for a mail could not be read and was dropped", describeError(error));
    return null;
  }
}

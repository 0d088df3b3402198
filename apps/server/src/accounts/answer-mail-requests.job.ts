import type { Core } from "../core.ts";
import { describeError } from "../lib/log.ts";
import { mailLink } from "./mail-link.ts";
import { type MailRequestRow, takeMailRequests } from "./mailed-token.store.ts";
import { findUserByEmail } from "./user.store.ts";

const batchSize = 20;

/** Mails the links that were asked for. Request, token and mail change in one transaction: each is answered once. */
export function answerMailRequests(core: Core): Promise<number> {
  return core.db.transaction(async (tx) => {
    const requests = await takeMailRequests(tx, batchSize);
    for (const request of requests) {
      const email = openEmail(core, request);
      const user = email === null ? null : await findUserByEmail(tx, email);
      if (user !== null) await mailLink(core, tx, user.id, request.purpose, user.email);
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

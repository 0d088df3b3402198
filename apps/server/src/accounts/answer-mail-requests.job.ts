import { type FoldedEmail, foldEmail } from "@assay/contract/email";
import type { Core } from "../core.ts";
import { failureName, isolateFailures } from "../db/isolate-failures.ts";
import { describeError } from "../lib/log.ts";
import { mailLink } from "./mail-link.ts";
import {
  listMailRequests,
  type MailRequestRow,
  setMailRequestAside,
  takeMailRequests,
} from "./mailed-token.store.ts";
import { findUserByEmail } from "./user.store.ts";

const batchSize = 20;

/**
 * Mails the links that were asked for (the transactional outbox of mail requests). Request, token and mail change in
 * one transaction, so each request is answered once. A request that cannot be answered is set aside, so that it does
 * not keep the others waiting.
 */
export async function answerMailRequests(core: Core): Promise<number> {
  const ids = await listMailRequests(core.db, batchSize);
  return isolateFailures(ids, {
    process: (some) => answer(core, some),
    setAside: (id, error) => setAside(core, id, error),
  });
}

function answer(core: Core, ids: readonly string[]): Promise<number> {
  return core.db.transaction(async (tx) => {
    const requests = await takeMailRequests(tx, ids);
    for (const request of requests) {
      const email = openEmail(core, request);
      const user = email === null ? null : await findUserByEmail(tx, email);
      if (user !== null) await mailLink(core, tx, user.id, request.purpose, user.email);
    }
    return requests.length;
  });
}

async function setAside({ db, clock, log }: Core, id: string, error: unknown): Promise<void> {
  const reason = failureName(error);
  if (await setMailRequestAside(db, id, reason, clock.now()))
    log.error("a request for a mail cannot be answered and was set aside", {
      id,
      ...describeError(error),
      reason,
    });
}

/**
 * A request that was sealed under a key which has left the ring cannot be read; it is dropped, or it would hold up
 * the others for ever.
 */
function openEmail({ ring, log }: Core, request: MailRequestRow): FoldedEmail | null {
  try {
    return foldEmail(ring.openText("mail", request.email, request.id));
  } catch (error) {
    log.warn("a request for a mail could not be read and was dropped", describeError(error));
    return null;
  }
}

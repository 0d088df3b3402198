import { foldEmail } from "@assay/contract/email";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { mailLink } from "./mail-link.ts";
import { deleteMailRequests, type MailRequestRow, takeMailRequests } from "./mailed-token.store.ts";
import { findUserByEmail } from "./user.store.ts";

export const requestsAtOnce = 20;

/**
 * Mails the requested links (transactional outbox). Request, token and mail change in one transaction, so
 * each request is answered once.
 */
export function answerMailRequests(core: Core, job: string): Promise<number> {
  return core.quarantine.rowsOf(job, "mail_requests").run(requestsAtOnce, {
    take: takeMailRequests,
    handle: (tx, requests) => answer(core, tx, requests),
  });
}

async function answer(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  requests: readonly MailRequestRow[],
): Promise<void> {
  for (const request of requests) {
    const email = foldEmail(core.ring.openText("mail", request.email, request.id));
    const user = email === null ? null : await findUserByEmail(tx, email);
    if (user !== null) await mailLink(core, tx, user.id, request.purpose, user.email);
  }
  await deleteMailRequests(
    tx,
    requests.map((request) => request.id),
  );
}

import type { OrganizationId } from "@assay/contract/ids";
import { shownText } from "@assay/contract/shown-text";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { newUuid } from "../kernel/ids.ts";
import { insertMail } from "./mail.store.ts";
import type { Mail } from "./mail.ts";

/** NOTIFY channel: mails are waiting. The payload is empty. */
export const mailChannel = "assay_mails";

/**
 * Queues a mail in the transaction of the change that it reports (a transactional outbox): none is lost, and none is
 * sent for something that did not happen. The content is sealed, because it may hold a link that signs in. Names in it
 * may be of a time when characters were taken that turn the text around them.
 */
export async function queueMail(
  { clock, ring }: Pick<Core, "clock" | "ring">,
  tx: Tx,
  mail: Mail,
  organizationId: OrganizationId | null = null,
): Promise<void> {
  const now = clock.now();
  const id = newUuid(now);
  const shown = { ...mail, subject: shownText(mail.subject), paragraphs: mail.paragraphs.map(shownText) };
  await insertMail(tx, { id, organizationId, content: ring.seal("mail", JSON.stringify(shown), id), now });
  tx.notify(mailChannel, "");
}

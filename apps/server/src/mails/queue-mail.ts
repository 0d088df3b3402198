import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { newUuid } from "../kernel/ids.ts";
import { insertMail } from "./mail.store.ts";
import type { Mail } from "./mail.ts";

/** The channel on which waiting mails are announced. */
export const mailChannel = "assay_mails";

/**
 * Queues a mail in the transaction of what it tells of: none is lost, none is sent for something that did not happen.
 * The content is sealed, because it may hold a link that signs in.
 */
export async function queueMail(
  { clock, ring }: Pick<Core, "clock" | "ring">,
  tx: Tx,
  mail: Mail,
  organizationId: string | null = null,
): Promise<void> {
  const now = clock.now();
  const id = newUuid(now);
  await insertMail(tx, { id, organizationId, content: ring.seal("mail", JSON.stringify(mail), id), now });
  await tx.notify(mailChannel, "");
}

import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import type { Mail } from "../mails/mail.ts";
import { queueMail } from "../mails/queue-mail.ts";
import { listOwners } from "./member.store.ts";

/** Queues a mail to each owner, in the transaction of the change that the mail reports. */
export async function mailOwners(
  core: Pick<Core, "clock" | "ring">,
  tx: Tx,
  organizationId: OrganizationId,
  mail: Omit<Mail, "to">,
): Promise<void> {
  for (const owner of await listOwners(tx, organizationId))
    await queueMail(core, tx, { ...mail, to: owner.email }, organizationId);
}

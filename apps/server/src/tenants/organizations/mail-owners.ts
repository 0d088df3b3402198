import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Letter } from "../../platform/mails/letter.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import { listOwners } from "./member.store.ts";

/** Queues a mail to each owner, in the transaction of the change that it reports. */
export async function mailOwners(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  organizationId: OrganizationId,
  letter: Letter,
): Promise<void> {
  for (const owner of await listOwners(tx, organizationId)) {
    const organization = { id: organizationId, name: owner.organizationName };
    await queueMail(core, tx, { to: owner.email, organization }, letter);
  }
}

import type { OrganizationId } from "@assay/contract/ids";
import type { Tx } from "../../platform/db/db.ts";

/**
 * NOTIFY channel: a key, a member or the organization may have lost a right. Payload: the organization's id;
 * empty means "check all".
 */
export const rightsChannel = "assay_rights";

/** Makes open streams check their access again. */
export function notifyRightsChanged(tx: Tx, organizationId: OrganizationId): void {
  tx.notify(rightsChannel, organizationId);
}

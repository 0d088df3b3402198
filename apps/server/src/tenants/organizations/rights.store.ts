import type { OrganizationId } from "@assay/contract/ids";
import type { Tx } from "../../platform/db/db.ts";

/** NOTIFY channel: a key, a member or the organization may have lost a right. Payload: the organization's id; empty for "look at all". */
export const rightsChannel = "assay_rights";

/** Streams that are open look again whether they may be. */
export function tellRightsChanged(tx: Tx, organizationId: OrganizationId): void {
  tx.notify(rightsChannel, organizationId);
}

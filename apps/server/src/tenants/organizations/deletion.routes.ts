import * as contract from "@assay/contract/organization-deletion";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { openReceiptKey } from "../../platform/key-ring/receipt-key.ts";
import { publicJwk } from "../../platform/lib/jws.ts";
import { cancelDeletion, confirmDeletion, requestDeletion } from "./delete-organization.ts";

export function organizationDeletionRoutes(core: Core): Binding[] {
  return [
    bind(contract.requestOrganizationDeletion, ({ caller }) => requestDeletion(core, caller)),

    bind(contract.confirmOrganizationDeletion, async ({ caller, body }) => ({
      pendingDeletionAt: (await confirmDeletion(core, caller, body.code)).toISOString(),
    })),

    bind(contract.cancelOrganizationDeletion, async ({ caller }) => {
      await cancelDeletion(core, caller);
      return { ok: true };
    }),

    bind(contract.listDeletionReceiptKeys, async () => {
      const key = await openReceiptKey(core, core.db, "deletion-receipt");
      return { keys: [publicJwk(key)] };
    }),
  ];
}

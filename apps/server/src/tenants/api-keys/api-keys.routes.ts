import * as contract from "@assay/contract/api-keys";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { listApiKeys } from "./api-key.store.ts";
import { viewApiKey } from "./api-key.view.ts";
import type { KeyUsage } from "./key-usage.ts";
import { changeApiKey, createApiKey, removeApiKey } from "./manage-api-key.ts";

export function apiKeyRoutes(core: Core, usage: KeyUsage): Binding[] {
  return [
    bind(contract.createApiKey, async ({ caller, body }) => {
      const { row, key } = await createApiKey(core, caller, body);
      return { ...viewApiKey(row), key };
    }),

    // Writes this process's counts first, so that the list includes every request that it has answered.
    bind(contract.listApiKeys, async ({ caller, query }) => {
      await usage.flush();
      return viewPage(listApiKeys(core.db, caller, parsePage(query)), viewApiKey);
    }),

    bind(contract.updateApiKey, async ({ caller, params, body }) => {
      await usage.flush();
      return viewApiKey(await changeApiKey(core, caller, params.id, body));
    }),

    bind(contract.deleteApiKey, ({ caller, params }) => removeApiKey(core, caller, params.id)),
  ];
}

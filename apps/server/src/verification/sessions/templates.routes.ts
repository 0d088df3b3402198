import * as contract from "@assay/contract/templates";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { changeTemplate, createTemplate, removeTemplate } from "./manage-template.ts";
import { findTemplate, listTemplates } from "./template.store.ts";
import { viewTemplate } from "./template.view.ts";

export function templateRoutes(core: Core): Binding[] {
  const { db } = core;
  return [
    bind(contract.createTemplate, async ({ caller, body }) =>
      viewTemplate(await createTemplate(core, caller, body)),
    ),
    bind(contract.listTemplates, ({ caller, query }) =>
      viewPage(listTemplates(db, caller, parsePage(query)), viewTemplate),
    ),
    bind(contract.getTemplate, async ({ caller, params }) => {
      const row = await findTemplate(db, caller, params.id);
      if (row === null) throw new ApiError("NOT_FOUND");
      return viewTemplate(row);
    }),
    bind(contract.updateTemplate, async ({ caller, params, body }) =>
      viewTemplate(await changeTemplate(core, caller, params.id, body)),
    ),
    bind(contract.deleteTemplate, ({ caller, params }) => removeTemplate(core, caller, params.id)),
  ];
}

import type { SessionTemplate } from "@assay/contract/templates";
import type { Static } from "typebox";
import { environmentOf } from "../../platform/kernel/caller.ts";
import type { TemplateRow } from "./template.store.ts";

export function viewTemplate(row: TemplateRow): Static<typeof SessionTemplate> {
  return {
    id: row.id,
    environment: environmentOf(row),
    name: row.name,
    share_fields: row.shareFields,
    methods: row.methods,
    requirements: row.requirements,
    locale: row.locale,
    redirect_url: row.redirectUrl,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

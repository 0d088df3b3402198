import { demandNames } from "@assay/contract/facts";
import type { SessionTemplate } from "@assay/contract/templates";
import type { Static } from "typebox";
import { t } from "../i18n/words.ts";
import { Facts } from "../ui/page.tsx";
import { languageName } from "../ui/page-languages.ts";
import { claimLabel } from "./claim-labels.ts";

export type Template = Static<typeof SessionTemplate>;

/** The names of the fields; optional ones are marked. */
export function fieldsText({ share_fields: shares }: Template): string {
  const names = Object.entries(shares ?? {}).map(([key, { required }]) =>
    required ? claimLabel(key) : t.sessions.fieldOptional(claimLabel(key)),
  );
  return names.length === 0 ? t.sessions.idOnly : names.join(", ");
}

/** What a session from the template asks for. */
export function TemplateSummary({ template }: { template: Template }) {
  const required = demandNames.filter((name) => template.requirements?.[name] === "required");
  return (
    <Facts
      facts={[
        [t.ui.template, <bdi key="name">{template.name}</bdi>],
        [t.sessions.requested, fieldsText(template)],
        ...(template.methods === null
          ? []
          : [
              [
                t.sessions.methods,
                template.methods.map((method) => t.sessions.method[method]).join(", "),
              ] as const,
            ]),
        ...(required.length === 0
          ? []
          : [
              [
                t.sessions.requirementsShort,
                required.map((name) => t.sessions.requirement[name]).join(", "),
              ] as const,
            ]),
        ...(template.locale === null ? [] : [[t.ui.language, languageName(template.locale)] as const]),
        ...(template.redirect_url === null
          ? []
          : [
              [
                t.sessions.returnUrl,
                <span key="redirect" className="break-all">
                  {template.redirect_url}
                </span>,
              ] as const,
            ]),
      ]}
    />
  );
}

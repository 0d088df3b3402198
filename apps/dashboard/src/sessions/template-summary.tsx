import type { SessionTemplate } from "@assay/contract/templates";
import type { Static } from "typebox";
import { inWords } from "../ui/filters.tsx";
import { Facts } from "../ui/page.tsx";
import { languageName } from "../ui/page-languages.ts";
import { claimLabel } from "./claim-labels.ts";

export type Template = Static<typeof SessionTemplate>;

/** The fields by name, those that people may leave out marked. */
export function fieldsText({ share_fields: shares }: Template): string {
  const names = Object.entries(shares ?? {}).map(
    ([key, { required }]) => `${claimLabel(key)}${required ? "" : " (optional)"}`,
  );
  return names.length === 0 ? "Anonymous document ID only" : names.join(", ");
}

/** What a session from the template asks for. */
export function TemplateSummary({ template }: { template: Template }) {
  const required = Object.entries(template.requirements ?? {}).filter(([, demand]) => demand === "required");
  return (
    <Facts
      facts={[
        ["Template", <bdi key="name">{template.name}</bdi>],
        ["Requested data", fieldsText(template)],
        ...(template.methods === null
          ? []
          : [["Methods", template.methods.map(inWords).join(", ")] as const]),
        ...(required.length === 0
          ? []
          : [["Requirements", required.map(([name]) => inWords(name)).join(", ")] as const]),
        ...(template.locale === null ? [] : [["Language", languageName(template.locale)] as const]),
        ...(template.redirect_url === null
          ? []
          : [
              [
                "Return URL",
                <span key="redirect" className="break-all">
                  {template.redirect_url}
                </span>,
              ] as const,
            ]),
      ]}
    />
  );
}

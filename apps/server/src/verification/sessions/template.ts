import { type DemandName, type Method, type PageLanguage, templateIdPrefix } from "@assay/contract/facts";
import type { TemplateId } from "@assay/contract/ids";
import { type CreateSessionBody, type Demand, templatedFieldNames } from "@assay/contract/sessions";
import type { Static } from "typebox";
import type { AskedFields } from "./share-contract.ts";

type Body = Static<typeof CreateSessionBody>;

/** The content of a template. Null: left to the request. */
export type TemplateContent = {
  shareFields: AskedFields | null;
  methods: readonly Method[] | null;
  requirements: Readonly<Partial<Record<DemandName, Demand>>> | null;
  locale: PageLanguage | null;
  redirectUrl: string | null;
};

/** The form in which names are compared. */
export function foldName(name: string): string {
  return name.trim().normalize().toLowerCase();
}

/** Whether a text can be the name of a template. A text that begins like an id is looked up as one. */
export function nameProblem(name: string): string | null {
  return foldName(name).startsWith(templateIdPrefix)
    ? `must not begin with ${templateIdPrefix}, as identifiers do`
    : null;
}

/** The request merged with the template. A field of the request replaces the template's field as a whole. */
export function withTemplate(asked: Body, template: TemplateContent): Body {
  const given = {
    share_fields: template.shareFields,
    methods: template.methods === null ? null : [...template.methods],
    requirements: template.requirements,
    locale: template.locale,
    redirect_url: template.redirectUrl,
  };
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return { ...said, ...asked };
}

/** The origin of each field of a refused request, for the developer who has to correct it. */
export function describeOrigin(
  asked: Body,
  template: { id: TemplateId; name: string } & TemplateContent,
): string {
  const merged = withTemplate(asked, template);
  const list = (names: readonly string[]) =>
    names.length === 0 ? "nothing" : names.map((name) => `\`${name}\``).join(", ");
  const fromRequest = templatedFieldNames.filter((name) => asked[name] !== undefined);
  const fromTemplate = templatedFieldNames.filter(
    (name) => asked[name] === undefined && merged[name] !== undefined,
  );
  return `The request gave ${list(fromRequest)}, the template ${template.id} gave ${list(fromTemplate)}.`;
}

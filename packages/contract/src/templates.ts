import { type TSchema, Type } from "typebox";
import { environments, methods, pageLanguages, templatesPerEnvironment } from "./facts.ts";
import { partnerPageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Text, Timestamp } from "./schema.ts";
import {
  mapOf,
  shownField,
  someDemands,
  TemplateId,
  templatedFields,
  templateNameMaxCharacters,
} from "./sessions.ts";

const route = routesOf("Session templates");

const TemplateName = Text({
  max: templateNameMaxCharacters,
  description: "Unique in the environment, whatever its case. It must not begin like an identifier, `vst_`.",
  examples: ["Age check"],
});

/** Each says null where the template leaves it to the request. */
export const SessionTemplate = open("SessionTemplate", {
  id: TemplateId,
  environment: OneOf(environments, { description: "Where sessions can be created from it." }),
  name: TemplateName,
  share_fields: {
    ...Nullable(mapOf(open("TemplateField", shownField))),
    description: "What the person is asked to share, or null.",
  },
  methods: {
    ...Nullable(Type.Array(OneOf(methods))),
    description: "How the person may be verified, or null.",
  },
  requirements: {
    ...Nullable(open("TemplateRequirements", someDemands)),
    description: "What the session requires, or null.",
  },
  locale: {
    ...Nullable(OneOf(pageLanguages)),
    description: "The language that the person's page begins with, or null.",
  },
  redirect_url: Nullable(Type.String({ description: "Where the person is sent afterwards, or null." })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const ageCheckExample = {
  age_over_18: {
    required: true,
    reason: "We may only serve adults.",
    reasons: { de: "Wir bedienen nur Erwachsene." },
  },
};

function cleared<T extends TSchema>(schema: T, description: string) {
  return Type.Optional({ ...Nullable(schema), description: `${description} Null clears it.` });
}

const params = closed({ id: TemplateId });
const templateErrors = ["UNKNOWN_CLAIM_KEY", "INVALID_REQUEST", "TEMPLATE_NAME_TAKEN"] as const;

export const createTemplate = route("POST /v1/templates", {
  id: "createSessionTemplate",
  summary: "Create a session template",
  description: `Settings that sessions share, under a name: \`POST /v1/sessions\` takes it as \`template\`. An organization has at most ${templatesPerEnvironment} in each environment. The same checks run again when a session is created.`,
  access: { scope: "sessions:write" },
  body: closed({
    name: TemplateName,
    share_fields: Type.Optional(templatedFields.share_fields),
    methods: Type.Optional(templatedFields.methods),
    requirements: Type.Optional(templatedFields.requirements),
    locale: Type.Optional(templatedFields.locale),
    redirect_url: Type.Optional(templatedFields.redirect_url),
  }),
  reply: { status: 201, data: SessionTemplate },
  errors: [...templateErrors, "TEMPLATE_LIMIT_REACHED"],
  examples: { body: { name: "Age check", share_fields: ageCheckExample } },
});

export const listTemplates = route("GET /v1/templates", {
  id: "listSessionTemplates",
  summary: "List session templates",
  access: { scope: "sessions:read" },
  query: partnerPageQuery(TemplateId, {}),
  reply: { status: 200, list: SessionTemplate },
});

export const getTemplate = route("GET /v1/templates/:id", {
  id: "getSessionTemplate",
  summary: "Read a session template",
  access: { scope: "sessions:read" },
  params,
  reply: { status: 200, data: SessionTemplate },
  errors: ["NOT_FOUND"],
});

export const updateTemplate = route("PATCH /v1/templates/:id", {
  id: "updateSessionTemplate",
  summary: "Change a session template",
  description:
    "Each given field replaces the previous one as a whole; null clears it. Sessions already created from the template do not change.",
  access: { scope: "sessions:write" },
  params,
  body: Type.Object(
    {
      name: Type.Optional(TemplateName),
      share_fields: cleared(templatedFields.share_fields, "What the person is asked to share."),
      methods: cleared(templatedFields.methods, "How the person may be verified, in your order."),
      requirements: cleared(templatedFields.requirements, "What the session requires."),
      locale: Type.Optional(Nullable(templatedFields.locale)),
      redirect_url: Type.Optional(Nullable(templatedFields.redirect_url)),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  reply: { status: 200, data: SessionTemplate },
  errors: [...templateErrors, "NOT_FOUND"],
});

export const deleteTemplate = route("DELETE /v1/templates/:id", {
  id: "deleteSessionTemplate",
  summary: "Delete a session template",
  description: "Sessions already created from it do not change.",
  access: { scope: "sessions:write" },
  params,
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const templateRoutes = route.declared;

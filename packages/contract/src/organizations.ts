import { Type } from "typebox";
import { route } from "./route.ts";
import { closed, named, OneOf, open, Text, Uuid } from "./schema.ts";

const tag = "Organization";

export const OrganizationName = Text({ max: 120, examples: ["Acme Bank"] });
export const Slug = Type.String({ pattern: "^[a-z0-9-]{2,60}$", examples: ["acme-bank"] });

export const Organization = named(
  "Organization",
  open({
    id: Uuid,
    name: OrganizationName,
    slug: Slug,
    environment: OneOf(["sandbox", "live"], { description: "Every organization starts in the sandbox." }),
  }),
);

export const createOrganization = route({
  id: "createOrganization",
  method: "POST",
  path: "/v1/auth/orgs",
  tag,
  summary: "Create an organization",
  description: "The caller becomes its owner, and it becomes the active organization.",
  access: { user: true },
  body: named("CreateOrganizationBody", closed({ name: OrganizationName, slug: Slug })),
  reply: { status: 201, data: Organization },
  errors: ["CONFLICT", "EMAIL_NOT_VERIFIED"],
});

export const organizationRoutes = [createOrganization];

import { defaultMethods, templatesPerEnvironment } from "@assay/contract/facts";
import type { TemplateId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import type * as contract from "@assay/contract/templates";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller, Tenant } from "../../platform/kernel/caller.ts";
import { isSandbox } from "../../platform/kernel/caller.ts";
import { newId } from "../../platform/kernel/ids.ts";
import { lockOrganization } from "../../tenants/organizations/organization.store.ts";
import { checkEnabled, checkRedirect, checkShareFields, checkWays } from "./check-asked.ts";
import { operatorOf } from "./operator.ts";
import { requirementsOf } from "./requirements.ts";
import { askedOf } from "./share-contract.ts";
import {
  countTemplates,
  deleteTemplate,
  findTemplate,
  findTemplateCalled,
  insertTemplate,
  type TemplateRow,
  updateTemplate,
} from "./template.store.ts";
import { nameProblem, type TemplateContent } from "./template.ts";

type ChangeBody = BodyOf<typeof contract.updateTemplate>;

export async function createTemplate(
  core: Core,
  caller: OrganizationCaller,
  body: BodyOf<typeof contract.createTemplate>,
): Promise<TemplateRow> {
  const name = checkName(body.name);
  const content = changed(noContent, changeOf(body));
  await checkContent(core, caller, content);
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    await lockOrganization(tx, caller.organizationId);
    if ((await countTemplates(tx, caller)) >= templatesPerEnvironment)
      throw new ApiError("TEMPLATE_LIMIT_REACHED");
    await refuseTaken(tx, caller, name, null);
    const created = await insertTemplate(tx, caller, { ...content, id: newId("vst", now), name, now });
    await recordAct(tx, now, caller, {
      event: "session_template.created",
      targetId: created.id,
      details: { name },
    });
    return created;
  });
}

export async function changeTemplate(
  core: Core,
  caller: OrganizationCaller,
  id: TemplateId,
  body: ChangeBody,
): Promise<TemplateRow> {
  const name = body.name === undefined ? undefined : checkName(body.name);
  const change = changeOf(body);
  const before = await findTemplate(core.db, caller, id);
  if (before === null) throw new ApiError("NOT_FOUND");
  await checkContent(core, caller, changed(before, change));
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    await lockOrganization(tx, caller.organizationId);
    if (name !== undefined) await refuseTaken(tx, caller, name, id);
    const updated = await updateTemplate(tx, caller, id, { ...change, name, now });
    if (updated === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "session_template.updated",
      targetId: id,
      // Only the names of changed fields: texts may be long, and an address may contain a secret.
      details: { name: updated.name, changed: Object.keys(body) },
    });
    return updated;
  });
}

export async function removeTemplate(core: Core, caller: OrganizationCaller, id: TemplateId): Promise<void> {
  const now = core.clock.now();
  await core.db.transaction(async (tx) => {
    const deleted = await deleteTemplate(tx, caller, id);
    if (deleted === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "session_template.deleted",
      targetId: id,
      details: { name: deleted.name },
    });
  });
}

function checkName(given: string): string {
  const problem = nameProblem(given);
  if (problem !== null) throw badField("name", problem);
  return given.trim();
}

const noContent: TemplateContent = {
  shareFields: null,
  methods: null,
  requirements: null,
  locale: null,
  redirectUrl: null,
};

type Change = { [K in keyof TemplateContent]: TemplateContent[K] | undefined };

/** The changes in a body, with reasons in their stored form. Undefined: unchanged. */
function changeOf(body: ChangeBody): Change {
  const { share_fields: asked } = body;
  return {
    shareFields: asked === undefined || asked === null ? asked : askedOf(checkShareFields(asked)),
    methods: body.methods,
    requirements: body.requirements,
    locale: body.locale,
    redirectUrl: body.redirect_url,
  };
}

function changed(before: TemplateContent, change: Change): TemplateContent {
  const said = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return { ...before, ...said };
}

/**
 * Refuses content that every session would refuse. Fields and methods are compared only if the template has
 * fields; otherwise the request adds them.
 */
async function checkContent(core: Core, caller: OrganizationCaller, content: TemplateContent): Promise<void> {
  const methods = content.methods ?? defaultMethods;
  checkEnabled(core.config, caller, methods);
  await checkRedirect(core, caller, content.redirectUrl ?? undefined);
  if (content.shareFields === null) return;
  const operator = await operatorOf(core, { sandbox: isSandbox(caller), methods });
  const shareFields = checkShareFields(content.shareFields);
  checkWays(methods, { shareFields, requirements: requirementsOf(content.requirements ?? {}) }, operator);
}

/** Locks the organization, so that concurrent requests do not both find the name free. */
async function refuseTaken(tx: Tx, tenant: Tenant, name: string, besides: TemplateId | null): Promise<void> {
  const holder = await findTemplateCalled(tx, tenant, name);
  if (holder !== null && holder.id !== besides) throw new ApiError("TEMPLATE_NAME_TAKEN");
}

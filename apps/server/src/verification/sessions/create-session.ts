import { contractVersionOf, defaultMethods, sessionLifetimeMinutes } from "@assay/contract/facts";
import type { EndpointId, TemplateId } from "@assay/contract/ids";
import type { CreateSessionBody } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { isUsableEndpoint } from "../../delivery/webhooks/endpoint.store.ts";
import { actEntry } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import { isSandbox, type OrganizationCaller, type Tenant } from "../../platform/kernel/caller.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { hashToken, newId, newToken } from "../../platform/kernel/ids.ts";
import { checkEnabled, checkRedirect, checkShareFields, checkWays } from "./check-asked.ts";
import { embedOriginProblem, parseEmbedOrigin } from "./embed-origin.ts";
import type { OpenSessions } from "./open-sessions.ts";
import { operatorOf } from "./operator.ts";
import { requirementsOf } from "./requirements.ts";
import { insertSession, type NewSession, type SessionRow } from "./session.store.ts";
import { expiryOf } from "./session.ts";
import { findTemplateCalled } from "./template.store.ts";
import { describeOrigin, withTemplate } from "./template.ts";
import { availableMethods } from "./ways.ts";

type Body = Static<typeof CreateSessionBody>;

type CreatedSession = { row: SessionRow; cancelToken: string };

/** The session, and the token that is shown only once. */
export async function createSession(
  core: Core,
  caller: OrganizationCaller,
  asked: Body,
  openSessions: OpenSessions,
): Promise<CreatedSession> {
  if (asked.template === undefined) return create(core, caller, asked, null, openSessions);
  const template = await findTemplateCalled(core.db, caller, asked.template);
  if (template === null) throw new ApiError("UNKNOWN_TEMPLATE");
  try {
    return await create(core, caller, withTemplate(asked, template), template.id, openSessions);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    const { code, message, hint } = error;
    throw new ApiError(code, { message, hint: `${hint} ${describeOrigin(asked, template)}` });
  }
}

async function create(
  core: Core,
  caller: OrganizationCaller,
  body: Body,
  templateId: TemplateId | null,
  openSessions: OpenSessions,
): Promise<CreatedSession> {
  const { db, clock, config } = core;
  const methods = body.methods ?? defaultMethods;
  checkEnabled(config, caller, methods);
  const available = availableMethods(config, { sandbox: isSandbox(caller) });
  if (!methods.some((method) => available.includes(method))) throw new ApiError("NO_READER_AVAILABLE");
  const shareFields = checkShareFields(body.share_fields);
  const requirements = requirementsOf(body.requirements ?? {});
  const operator = await operatorOf(core, { sandbox: isSandbox(caller), methods });
  checkWays(methods, { shareFields, requirements }, operator);
  await checkRedirect(core, caller, body.redirect_url);
  const embedOrigin = await checkEmbedOrigin(core, caller, body.embed_origin);
  await checkEndpoint(core, caller, body.webhook_endpoint_id);
  const lifetimeMs = checkLifetime(caller, body.expires_in_seconds);

  const now = clock.now();
  const cancelToken = newToken();
  const session: NewSession = {
    id: newId("vs", now),
    organizationId: caller.organizationId,
    methods: body.methods === undefined ? null : methods,
    contractVersion: contractVersionOf(methods),
    shareFields,
    requirements,
    locale: body.locale ?? null,
    redirectUrl: body.redirect_url ?? null,
    templateId,
    embedOrigin,
    webhookEndpointId: body.webhook_endpoint_id ?? null,
    clientReferenceId: body.client_reference_id ?? null,
    metadata: body.metadata ?? {},
    sandbox: isSandbox(caller),
    cancelTokenHash: hashToken(cancelToken),
    expiresAt: expiryOf(now, lifetimeMs),
    now,
  };
  const audit = actEntry(caller, { event: "session.created", targetId: session.id });
  const { limit } = openSessions;
  const countUpTo = openSessions.countUpTo(caller);
  if (countUpTo === null) throw tooManyOpen(limit);
  const { row, open } = await insertSession(db, session, audit, { limit, countUpTo });
  if (countUpTo > 0) openSessions.counted(caller, open);
  if (row === null) throw tooManyOpen(limit);
  return { row, cancelToken };
}

/** Undefined for the usual lifetime. */
function checkLifetime(tenant: Tenant, seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!isSandbox(tenant))
    throw new ApiError("INVALID_REQUEST", {
      message: "`expires_in_seconds` is for sessions of the sandbox.",
      hint: `Leave it out: a live session lives ${sessionLifetimeMinutes} minutes.`,
    });
  return seconds * secondMs;
}

function tooManyOpen(limit: number): ApiError {
  return new ApiError("CONFLICT", {
    message: "The organization has reached its limit of open sessions in this environment.",
    hint: `An organization may have ${limit} open sessions at once in each environment. Wait until some have ended or expired, cancel some, or ask the operator for more.`,
  });
}

/** Returns the origin in the serialized form that browsers compare. */
async function checkEmbedOrigin(
  { db }: Core,
  caller: OrganizationCaller,
  text: string | undefined,
): Promise<string | null> {
  if (text === undefined) return null;
  const parsed = parseEmbedOrigin(text);
  if ("problem" in parsed) throw badField("embed_origin", parsed.problem);
  const asked = { organizationId: caller.organizationId, sandbox: caller.environment === "sandbox" };
  const problem = await embedOriginProblem(db, asked, parsed.origin);
  if (problem === null) return parsed.origin.origin;
  throw new ApiError("EMBED_ORIGIN_NOT_ALLOWED", {
    message: `\`embed_origin\` ${problem}.`,
    hint: "Verify the domain of the page that shows the frame, or leave it out and send the person to `verification_url`.",
  });
}

async function checkEndpoint({ db }: Core, tenant: Tenant, id: EndpointId | undefined): Promise<void> {
  if (id === undefined || (await isUsableEndpoint(db, tenant, id))) return;
  throw new ApiError("INVALID_REQUEST", {
    message:
      "`webhook_endpoint_id` names no enabled webhook endpoint of your organization in this environment.",
    hint: "Use the id of an enabled endpoint of the same environment, or leave it out to notify every subscribed endpoint.",
  });
}

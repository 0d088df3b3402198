import {
  contractVersionOf,
  defaultMethods,
  type Method,
  sessionLifetimeMinutes,
} from "@assay/contract/facts";
import type { EndpointId, OrganizationId } from "@assay/contract/ids";
import { nearest } from "@assay/contract/nearest";
import { ageClaim, type CreateSessionBody, claimKeys } from "@assay/contract/sessions";
import type { Static } from "typebox";
import { isUsableEndpoint } from "../../delivery/webhooks/endpoint.store.ts";
import { actEntry } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import { isSandbox, type OrganizationCaller, type Tenant } from "../../platform/kernel/caller.ts";
import { secondMs } from "../../platform/kernel/clock.ts";
import { hashToken, newId, newToken } from "../../platform/kernel/ids.ts";
import { liveRedirectProblem } from "../../tenants/domains/check-redirect.ts";
import type { Asked, Operator } from "../evidence/kind.ts";
import { embedOriginProblem, parseEmbedOrigin } from "./embed-origin.ts";
import type { OpenSessions } from "./open-sessions.ts";
import { operatorOf } from "./operator.ts";
import {
  commonRedirectProblem,
  liveSchemeProblem,
  parseRedirectUrl,
  sandboxRedirectProblem,
} from "./redirect-rules.ts";
import { requirementsOf } from "./requirements.ts";
import { insertSession, type NewSession, type SessionRow } from "./session.store.ts";
import { expiryOf } from "./session.ts";
import { buildShareFields, type ShareFields } from "./share-contract.ts";
import { availableMethods, enabledMethods, obstacleTo, operatorLacks } from "./ways.ts";

type Body = Static<typeof CreateSessionBody>;

/** The session, and the token that is shown this once. */
export async function createSession(
  core: Core,
  caller: OrganizationCaller,
  body: Body,
  openSessions: OpenSessions,
): Promise<{ row: SessionRow; cancelToken: string }> {
  const { db, clock, config } = core;
  const methods = body.methods ?? defaultMethods;
  checkAvailable(config, caller, methods);
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
  const startedAt = performance.now();
  const { row, open } = await insertSession(db, session, audit, { limit, countUpTo });
  if (countUpTo > 0) openSessions.counted(caller, open, performance.now() - startedAt);
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
    message: "The organization has as many open sessions in this environment as it may have.",
    hint: `An organization may have ${limit} open sessions at once in each environment. Wait until some have ended or expired, cancel what is not needed, or ask the operator for more.`,
  });
}

function checkShareFields(asked: Body["share_fields"]): ShareFields {
  const built = buildShareFields(asked);
  if ("fields" in built) return built.fields;
  const { problem } = built;
  switch (problem.kind) {
    case "unknown_key": {
      const meant = nearest(problem.key, [...claimKeys, `${ageClaim.prefix}18`]);
      throw new ApiError("UNKNOWN_CLAIM_KEY", {
        message: `\`share_fields.${problem.key.slice(0, 80)}\` is not a field that can be shared.${meant === null ? "" : ` Did you mean \`${meant}\`?`}`,
        hint: `Ask for one of: ${claimKeys.join(", ")}, or age_over_N with N from ${ageClaim.min} to ${ageClaim.max}.`,
      });
    }
    case "several_ages":
      throw new ApiError("INVALID_REQUEST", {
        message: `\`share_fields\` asks for more than one age: ${problem.keys.join(", ")}.`,
        hint: "Ask for one `age_over_N`. Several together would reveal more about the age than you need.",
      });
    case "bad_reason":
      throw badField(`share_fields.${problem.key}.${problem.at}`, problem.problem);
  }
}

/** Every listed method must be enabled, and one of them usable in this environment. */
function checkAvailable(
  config: Core["config"],
  caller: OrganizationCaller,
  methods: readonly Method[],
): void {
  const environment = { sandbox: isSandbox(caller) };
  const enabled = enabledMethods(config, environment);
  const disabled = methods.filter((method) => !enabled.includes(method));
  if (disabled.length > 0)
    throw new ApiError("INVALID_REQUEST", {
      message: `\`methods\` names ${disabled.join(", ")}, which the operator of this service has not enabled.`,
      hint: `Ask for ${enabled.join(", ")}, or leave \`methods\` out. The operator enables wallets with WALLET_METHODS; the sandbox has them all.`,
    });
  const available = availableMethods(config, environment);
  if (!methods.some((method) => available.includes(method))) throw new ApiError("NO_READER_AVAILABLE");
}

/** One of the methods must give all that is required, and the operator must be able to ask by those that would. */
function checkWays(listed: readonly Method[], asked: Asked, operator: Operator): void {
  const methods = listed.filter((method) => operator.methods.includes(method));
  const able = methods.filter((method) => obstacleTo(method, asked) === null);
  if (able.length === 0) {
    const obstacles = methods.map((method) => `${method} lacks \`${obstacleTo(method, asked)}\``);
    throw new ApiError("INVALID_REQUEST", {
      message: `No method of \`methods\` can give all that is required: ${obstacles.join(", ")}.`,
      hint: "Make the field or the requirement optional, or add a method that can give it.",
    });
  }
  const unknown = able.filter((method) => operatorLacks(method, asked, operator) === "methods");
  if (unknown.length > 0)
    throw new ApiError("INVALID_REQUEST", {
      message: `\`methods\` names ${unknown.join(", ")}, and this service has no identity that wallets know yet.`,
      hint: "Leave them out until the operator has imported a certificate with `assay wallet identity import`.",
    });
  for (const method of able) {
    const field = operatorLacks(method, asked, operator);
    if (field !== null)
      throw new ApiError("INVALID_REQUEST", {
        message: `The operator of this service is not registered to ask wallets for \`${field}\` by ${method}.`,
        hint: "Make the field optional, leave the method out, or ask the operator to register the field.",
      });
  }
}

async function checkRedirect(
  core: Core,
  caller: OrganizationCaller,
  text: string | undefined,
): Promise<void> {
  if (text === undefined) return;
  const parsed = parseRedirectUrl(text);
  if ("problem" in parsed) throw badField("redirect_url", parsed.problem);
  const { url } = parsed;
  const problem =
    commonRedirectProblem(url) ??
    (isSandbox(caller)
      ? sandboxRedirectProblem(url)
      : (liveSchemeProblem(url) ?? (await liveHostProblem(core, caller.organizationId, url))));
  if (problem !== null) {
    throw new ApiError("INVALID_REQUEST", {
      message: `\`redirect_url\` ${problem}.`,
      hint: "Use an address that the redirect rules of your environment allow, or leave it out.",
    });
  }
}

/** As it is stored: in the form that browsers compare. */
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

async function liveHostProblem(
  { db }: Core,
  organizationId: OrganizationId,
  url: URL,
): Promise<string | null> {
  const problem = await liveRedirectProblem(db, organizationId, url);
  return problem === null ? null : `is not allowed: ${problem}`;
}

async function checkEndpoint({ db }: Core, tenant: Tenant, id: EndpointId | undefined): Promise<void> {
  if (id === undefined || (await isUsableEndpoint(db, tenant, id))) return;
  throw new ApiError("INVALID_REQUEST", {
    message:
      "`webhook_endpoint_id` names no enabled webhook endpoint of your organization in this environment.",
    hint: "Use the id of an enabled endpoint of the same environment, or leave it out to notify every subscribed endpoint.",
  });
}

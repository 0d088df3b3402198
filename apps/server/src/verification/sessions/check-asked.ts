import type { Method } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import { nearest } from "@assay/contract/nearest";
import { ageClaim, claimKeys } from "@assay/contract/sessions";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import { isSandbox, type OrganizationCaller } from "../../platform/kernel/caller.ts";
import { liveRedirectProblem } from "../../tenants/domains/check-redirect.ts";
import type { Asked, Operator } from "../evidence/kind.ts";
import {
  commonRedirectProblem,
  liveSchemeProblem,
  parseRedirectUrl,
  sandboxRedirectProblem,
} from "./redirect-rules.ts";
import { type AskedFields, buildShareFields, type ShareFields } from "./share-contract.ts";
import { enabledMethods, obstacleTo, operatorLacks } from "./ways.ts";

export function checkShareFields(asked: AskedFields | undefined): ShareFields {
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

/** The operator must have enabled every listed method. */
export function checkEnabled(
  config: Core["config"],
  caller: OrganizationCaller,
  methods: readonly Method[],
): void {
  const enabled = enabledMethods(config, { sandbox: isSandbox(caller) });
  const disabled = methods.filter((method) => !enabled.includes(method));
  if (disabled.length > 0)
    throw new ApiError("INVALID_REQUEST", {
      message: `\`methods\` names ${disabled.join(", ")}, which the operator of this service has not enabled.`,
      hint: `Ask for ${enabled.join(", ")}, or leave \`methods\` out. The operator enables wallets with WALLET_METHODS; the sandbox has them all.`,
    });
}

/** At least one method must provide everything required, and the operator must have set it up. */
export function checkWays(listed: readonly Method[], asked: Asked, operator: Operator): void {
  const methods = listed.filter((method) => operator.methods.includes(method));
  const able = methods.filter((method) => obstacleTo(method, asked) === null);
  if (able.length === 0) {
    const obstacles = methods.map((method) => `${method} lacks \`${obstacleTo(method, asked)}\``);
    throw new ApiError("INVALID_REQUEST", {
      message: `No method of \`methods\` can provide everything that is required: ${obstacles.join(", ")}.`,
      hint: "Make the field or the requirement optional, or add a method that can provide it.",
    });
  }
  const unknown = able.filter((method) => operatorLacks(method, asked, operator) === "methods");
  if (unknown.length > 0)
    throw new ApiError("INVALID_REQUEST", {
      message: `\`methods\` names ${unknown.join(", ")}, and this service has no wallet identity yet.`,
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

export async function checkRedirect(
  { db }: Core,
  caller: OrganizationCaller,
  text: string | undefined,
): Promise<void> {
  if (text === undefined) return;
  const parsed = parseRedirectUrl(text);
  if ("problem" in parsed) throw badField("redirect_url", parsed.problem);
  const { organizationId } = caller;
  const problem = await redirectProblem(db, { organizationId, sandbox: isSandbox(caller) }, parsed.url);
  if (problem !== null) {
    throw new ApiError("INVALID_REQUEST", {
      message: `\`redirect_url\` ${problem}.`,
      hint: "Use an address that the redirect rules of your environment allow, or leave it out.",
    });
  }
}

/** Why people may not be sent to this address, as the rest of a sentence about it, or null. */
export async function redirectProblem(
  db: Queryable,
  { organizationId, sandbox }: { organizationId: OrganizationId; sandbox: boolean },
  url: URL,
): Promise<string | null> {
  const problem =
    commonRedirectProblem(url) ?? (sandbox ? sandboxRedirectProblem(url) : liveSchemeProblem(url));
  if (problem !== null || sandbox) return problem;
  const notAllowed = await liveRedirectProblem(db, organizationId, url);
  return notAllowed === null ? null : `is not allowed: ${notAllowed}`;
}

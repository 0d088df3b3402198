import type { RedirectUriId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import {
  deleteRedirectUri,
  findActiveDomains,
  findRedirectUri,
  insertRedirectUri,
  keepDomain,
  type RedirectUriRow,
} from "./redirect-uri.store.ts";
import { domainsAbove, formatRedirectPattern, parseRedirectPattern } from "./redirect-uri.ts";

/** Registers a pattern on a verified domain. Idempotent: an existing pattern is returned unchanged. */
export function allowRedirect(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  text: string,
): Promise<{ row: RedirectUriRow; created: boolean }> {
  const now = clock.now();
  const { organizationId } = caller;
  const parsed = parseRedirectPattern(text);
  if ("problem" in parsed) throw badField("pattern", parsed.problem);
  const pattern = formatRedirectPattern(parsed);
  return db.transaction(async (tx) => {
    const [domain] = await findActiveDomains(tx, organizationId, domainsAbove(parsed.host));
    if (domain === undefined || !(await keepDomain(tx, organizationId, domain.id)))
      throw new ApiError("DOMAIN_NOT_VERIFIED");
    const id = newUuid<RedirectUriId>(now);
    const created = await insertRedirectUri(tx, { id, organizationId, domainId: domain.id, pattern, now });
    if (created) {
      await recordAct(tx, now, caller, {
        event: "redirect_uri.created",
        targetId: id,
        details: { pattern },
      });
    }
    const row = await findRedirectUri(tx, organizationId, pattern);
    if (row === null) throw new ApiError("DOMAIN_NOT_VERIFIED");
    return { row, created };
  });
}

export async function disallowRedirect(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  redirectUriId: RedirectUriId,
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const removed = await deleteRedirectUri(tx, caller.organizationId, redirectUriId);
    if (removed === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "redirect_uri.deleted",
      targetId: redirectUriId,
      details: { pattern: removed.pattern },
    });
  });
}

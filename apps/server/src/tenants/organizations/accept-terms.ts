import type * as contract from "@assay/contract/go-live";
import type { BodyOf } from "@assay/contract/route";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { insertAcceptance } from "./go-live.store.ts";
import type { RpTerms } from "./rp-terms.ts";

/**
 * Accepts the terms that the caller was shown, by version and hash, if they are still in force. Idempotent.
 */
export async function acceptTerms(
  { db, clock }: Pick<Core, "db" | "clock">,
  terms: RpTerms,
  caller: MemberCaller,
  body: BodyOf<typeof contract.acceptRpTerms>,
): Promise<void> {
  const now = clock.now();
  const { organizationId } = caller;
  if (body.terms_version !== terms.version || body.terms_hash !== terms.hash) {
    throw new ApiError("CONFLICT", {
      message: "These are not the current terms.",
      hint: "Read GET /v1/auth/orgs/rp-terms/text again and accept what it shows.",
    });
  }
  await db.transaction(async (tx) => {
    if (!(await insertAcceptance(tx, organizationId, terms, caller.userId, now))) return;
    await recordAct(tx, now, caller, {
      event: "rp_terms.accepted",
      targetId: organizationId,
      details: { terms_version: terms.version, terms_hash: terms.hash },
    });
  });
}

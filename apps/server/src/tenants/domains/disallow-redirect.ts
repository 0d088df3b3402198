import type { RedirectUriId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { deleteRedirectUri } from "./redirect-uri.store.ts";

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

import type { SessionId } from "@assay/contract/ids";
import type { SessionStatus } from "@assay/contract/sessions";
import type { Queryable } from "../../platform/db/db.ts";
import { redirectProblem } from "../sessions/check-asked.ts";
import { parseRedirectUrl } from "../sessions/redirect-rules.ts";
import type { SessionRow } from "../sessions/session.store.ts";
import { isOpen } from "../sessions/session.ts";

/** The partner's address with the session and its status in the query, replacing earlier values. */
function withOutcome(address: URL, sessionId: SessionId, status: SessionStatus): string {
  const url = new URL(address);
  for (const name of ["session_id", "status"]) {
    // Only if present: deleting makes `URL` serialize all of the partner's parameters again.
    if (url.searchParams.has(name)) url.searchParams.delete(name);
  }
  url.search = `${url.search === "" ? "?" : `${url.search}&`}session_id=${sessionId}&status=${status}`;
  return url.href;
}

/**
 * Where to send the person after the end. Checked again: a live organization may have lost the domain
 * since, and its new owner must not get the person.
 */
export async function findReturnUrl(
  db: Queryable,
  session: Pick<SessionRow, "id" | "organizationId" | "redirectUrl" | "sandbox">,
  status: SessionStatus,
): Promise<string | null> {
  if (isOpen(status) || session.redirectUrl === null) return null;
  const parsed = parseRedirectUrl(session.redirectUrl);
  if ("problem" in parsed || (await redirectProblem(db, session, parsed.url)) !== null) return null;
  return withOutcome(parsed.url, session.id, status);
}

import type { SessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { hashToken, newToken } from "../../platform/kernel/ids.ts";
import { needsReturnCode } from "../sessions/return-code.ts";
import { putReturnCode, type SessionRow } from "../sessions/session.store.ts";

/**
 * The code that shows the partner that the browser which comes back is the one that opened the session first. The page asks for it with
 * a script, so that a program which only fetches the link, such as a mail scanner, does not take it from the person.
 */
export async function openSession(
  { db, clock }: Pick<Core, "db" | "clock">,
  session: Pick<SessionRow, "redirectUrl" | "requirements" | "contractVersion"> & { id: SessionId },
): Promise<string | null> {
  if (!needsReturnCode(session)) return null;
  const code = newToken();
  return (await putReturnCode(db, session.id, hashToken(code), clock.now())) ? code : null;
}

import type { SessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { hashToken, newToken } from "../../platform/kernel/ids.ts";
import { needsReturnCode } from "../sessions/return-code.ts";
import { putReturnCode, type SessionRow } from "../sessions/session.store.ts";

/**
 * The code that proves to the partner that the returning browser opened the session first. A script requests
 * it, so that programs which only fetch the link, such as mail scanners, do not take it from the person.
 */
export async function openSession(
  { db, clock }: Pick<Core, "db" | "clock">,
  session: Pick<SessionRow, "redirectUrl" | "requirements" | "contractVersion"> & { id: SessionId },
): Promise<string | null> {
  if (!needsReturnCode(session)) return null;
  const code = newToken();
  return (await putReturnCode(db, session.id, hashToken(code), clock.now())) ? code : null;
}

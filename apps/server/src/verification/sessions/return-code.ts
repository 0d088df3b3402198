import { hashToken } from "../../platform/kernel/ids.ts";
import type { Requirements } from "../evidence/kind.ts";
import type { SessionRow } from "./session.store.ts";

type OfReturn = Pick<SessionRow, "returnCodeHash" | "redirectUrl" | "requirements">;

/** The hash that partners compare. A session without a redirect returns no code. */
export function returnCodeSha256(session: Pick<OfReturn, "returnCodeHash" | "redirectUrl">): string | null {
  return session.redirectUrl === null ? null : (session.returnCodeHash?.toString("hex") ?? null);
}

/**
 * Whether the first browser gets a code: for the redirect, or to prove later that it was the first. In
 * version 2 the evidence says so.
 */
export function needsReturnCode(session: {
  redirectUrl: string | null;
  requirements: Requirements;
  contractVersion: number;
}): boolean {
  const { redirectUrl, requirements, contractVersion } = session;
  return redirectUrl !== null || requirements.binding === "required" || contractVersion > 1;
}

/** Whether the code is the one that the first browser got. */
export function isFirstBrowser(
  session: Pick<OfReturn, "returnCodeHash">,
  returnCode: string | undefined,
): boolean {
  if (returnCode === undefined || session.returnCodeHash === null) return false;
  return session.returnCodeHash.equals(hashToken(returnCode));
}

/** With `binding` required, only the browser with the code may agree and read. */
export function isBoundElsewhere(session: OfReturn, returnCode: string | undefined): boolean {
  return session.requirements.binding === "required" && !isFirstBrowser(session, returnCode);
}

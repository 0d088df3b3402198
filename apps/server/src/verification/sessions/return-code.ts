import { hashToken } from "../../platform/kernel/ids.ts";
import type { Requirements } from "../evidence/kind.ts";
import type { SessionRow } from "./session.store.ts";

type OfReturn = Pick<SessionRow, "returnCodeHash" | "redirectUrl" | "requirements">;

/** What partners compare. A session without a redirect brings nothing back. */
export function returnCodeSha256(session: Pick<OfReturn, "returnCodeHash" | "redirectUrl">): string | null {
  return session.redirectUrl === null ? null : (session.returnCodeHash?.toString("hex") ?? null);
}

/** Whether the first browser gets a code: for the redirect, or to prove later that it was the first. */
export function needsReturnCode(session: {
  redirectUrl: string | null;
  requirements: Requirements;
}): boolean {
  return session.redirectUrl !== null || session.requirements.binding === "required";
}

/** With `binding` required, only the browser with the code may agree and read. */
export function isBoundElsewhere(session: OfReturn, returnCode: string | undefined): boolean {
  if (session.requirements.binding !== "required") return false;
  if (returnCode === undefined || session.returnCodeHash === null) return true;
  return !session.returnCodeHash.equals(hashToken(returnCode));
}

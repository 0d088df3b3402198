import type { SessionRow } from "./session.store.ts";

/** The tries on the wire, where these steps have other names. */
export function triesOf(session: Pick<SessionRow, "steps" | "nfcTriesUsed" | "livenessTriesUsed">) {
  const { chip, face } = session.steps;
  return {
    nfc_tries_used: chip?.tries ?? session.nfcTriesUsed,
    liveness_tries_used: face?.tries ?? session.livenessTriesUsed,
  };
}

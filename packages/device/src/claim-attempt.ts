import { claimHandoff, createHandoff } from "@assay/contract/verify";
import { agreeToShare, type ConsentOptions } from "./agree-to-share.ts";

export const claimSteps = ["consent", "handoff", "claim"] as const;
export type ClaimStep = (typeof claimSteps)[number];

export type ClaimOptions = ConsentOptions & {
  /** This device's id in a session; random unless given. With the same id it resumes what it has claimed. */
  deviceId?: (sessionId: string) => string;
  stopAfter?: string;
};

type Claimed = {
  sessionId: string;
  baseUrl: string;
  socketToken: string;
  /** Claims once more, for a new socket token in place of one that is no longer accepted. */
  claimAgain(): Promise<string>;
};

/** Consent, handoff and claim: everything up to the socket. */
export async function claimAttempt(
  run: ClaimOptions,
): Promise<Claimed | { stopped: ClaimStep; sessionId: string }> {
  const { baseUrl, sessionId, handoffToken: shownToken, params, ask } = await agreeToShare(run);
  if (run.stopAfter === "consent") return { stopped: "consent", sessionId };
  const handoffToken = shownToken ?? (await ask(createHandoff, { params, body: {} })).handoff_token;
  run.onStep?.("handoff");
  if (run.stopAfter === "handoff") return { stopped: "handoff", sessionId };
  // A device may claim again with the token that it has claimed before, as long as it says the same name.
  const body = { handoff_token: handoffToken, device_id: run.deviceId?.(sessionId) ?? crypto.randomUUID() };
  const claim = async () => (await ask(claimHandoff, { params, body })).socket_token;
  const socketToken = await claim();
  run.onStep?.("claim");
  if (run.stopAfter === "claim") return { stopped: "claim", sessionId };
  return { sessionId, baseUrl, socketToken, claimAgain: claim };
}

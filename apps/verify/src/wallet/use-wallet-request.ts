import { useCallback, useEffect, useRef, useState } from "react";
import { codeOf, type Details, type Status } from "../session/api.ts";
import { msUntil } from "../session/clock.ts";
import { hasEnded } from "../session/follow-status.ts";
import type { Offer } from "../session/offers.ts";
import { planned, walletStep } from "../session/steps.ts";
import { testWalletAddress } from "../session/test-wallet-address.ts";
import { type Trouble, troubleOf } from "../session/trouble.ts";
import type { Session } from "../session/use-session.ts";
import { askBrowser, isPressFresh } from "./digital-credentials.ts";
import { askedBy, type Means } from "./means.ts";
import { answerWallet, askWallet, type WalletOutcome, type WalletRequest } from "./wallet-api.ts";

/** By these the wallet is asked from here. */
type AskedHere = Exclude<Means, "handover">;

/**
 * State of a request.
 * `press`: it took so long that the browser no longer treats it as the person's; they press again.
 */
export type Phase =
  | { at: "ready" }
  | { at: "asking" }
  | { at: "press"; by: AskedHere; request: WalletRequest }
  | { at: "open"; by: AskedHere; request: WalletRequest }
  | { at: "checking" };

/** How a request ended without a verdict. None of these uses up a try. */
export type Ending = "declined" | "late" | "taken" | "bound" | "other_browser" | Trouble;

/** Shorter: a slow phone counts as one without a wallet. Longer: people without one have left. */
const reactsWithinMs = 4_000;

export function useWalletRequest({
  session,
  status,
  ways,
  offer,
  before,
  onAsk,
}: {
  session: Session;
  status: Status;
  ways: Details["ways"];
  offer: Offer;
  /** How the request made before this page was loaded ended. */
  before: Ending | null;
  onAsk: () => void;
}) {
  const { api, kept, clock, reload } = session;
  const { sessionId } = api;
  const [phase, setPhase] = useState<Phase>({ at: "ready" });
  const [said, setSaid] = useState<Ending | WalletOutcome | null>(before);
  const control = useRef<AbortController | null>(null);
  const end = useCallback((what: Ending | WalletOutcome | null) => {
    control.current?.abort();
    setPhase({ at: "ready" });
    setSaid(what);
  }, []);
  useEffect(() => () => control.current?.abort(), []);

  const fail = (error: unknown) => {
    const code = codeOf(error);
    // The session was agreed to again with this link; this tab may continue, but no longer take over.
    if (code === "CANCEL_TOKEN_INVALID") kept.cancelToken = null;
    if (code !== null && code !== "INTERNAL_SERVER_ERROR") void reload();
    end(endingOf(code) ?? troubleOf(error));
  };

  const hearBrowser = async (request: WalletRequest) => {
    const aborting = new AbortController();
    control.current = aborting;
    const answer = await askBrowser(request, aborting.signal);
    if (aborting.signal.aborted) return;
    if (answer === null) return end("declined");
    setPhase({ at: "checking" });
    const outcome = await answerWallet(sessionId, request.request_id, answer);
    await reload();
    // The page moves on to the end automatically.
    if (!hasEnded(outcome)) end(outcome.failure_code === null ? "declined" : outcome);
  };

  const open = async (by: AskedHere, request: WalletRequest) => {
    setPhase({ at: "open", by, request });
    if (by === "browser") await hearBrowser(request).catch(fail);
    else if (by !== "request" && request.link !== null)
      location.assign(by === "test" ? testWalletAddress(sessionId, request.link) : request.link);
  };

  const ask = async (by: AskedHere) => {
    end(null);
    setPhase({ at: "asking" });
    // The service may report the request before it has answered.
    onAsk();
    try {
      const request = await askWallet(sessionId, askedBy(by, ways), kept);
      kept.askedWallet = { offer, onDevice: kept.onDevice };
      const needsPress = by === "browser" || by === "link";
      if (!needsPress || isPressFresh()) await open(by, request);
      else setPhase({ at: "press", by, request });
    } catch (error) {
      fail(error);
    }
  };

  // A wallet's answer elsewhere was refused, or the request has ended: the wallet can be asked again.
  const used = planned(status).find(({ name }) => name === walletStep)?.tries_used ?? 0;
  const [usedBefore, setUsedBefore] = useState(used);
  useEffect(() => {
    if (used === usedBefore) return;
    setUsedBefore(used);
    if (phase.at === "open") end(null);
  }, [used, usedBefore, phase, end]);
  const request = phase.at === "open" ? phase.request : null;
  useEffect(() => {
    if (request === null || clock === null) return;
    const timer = setTimeout(() => end("late"), Math.max(0, msUntil(clock, request.expires_at)));
    return () => clearTimeout(timer);
  }, [request, clock, end]);

  return { phase, said, ask, open, stop: end, seemsAlone: useSeemsAlone(phase) };
}

/** Whether nothing has reacted to the request: the page is still seen, and has the focus. */
function useSeemsAlone(phase: Phase): boolean {
  const [alone, setAlone] = useState(false);
  useEffect(() => {
    setAlone(false);
    if (phase.at !== "open" || phase.by === "request") return;
    let reacted = false;
    const onHidden = () => {
      reacted ||= document.visibilityState === "hidden";
    };
    document.addEventListener("visibilitychange", onHidden);
    const timer = setTimeout(() => setAlone(!reacted && document.hasFocus()), reactsWithinMs);
    return () => {
      document.removeEventListener("visibilitychange", onHidden);
      clearTimeout(timer);
    };
  }, [phase]);
  return alone;
}

export function endingOf(code: string | null): Ending | null {
  switch (code) {
    case "WALLET_REQUEST_EXPIRED":
    case "WALLET_REQUEST_NOT_FOUND":
    case "WALLET_ANSWERED":
      return "late";
    case "HANDOFF_DEVICE_MISMATCH":
      return "taken";
    case "OTHER_BROWSER":
      return "bound";
    case "WALLET_OTHER_BROWSER":
      return "other_browser";
    default:
      return null;
  }
}

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { codeOf, type Details, SessionApi, type Status } from "./api.ts";
import { clockOf, type ServiceClock } from "./clock.ts";
import { followStatus, hasEnded } from "./follow-status.ts";
import type { Given, GivenTexts } from "./given.ts";
import { forgetOldSessions, Kept } from "./kept.ts";
import { type Trouble, troubleOf } from "./trouble.ts";

type LoadProblem = "not_found" | Trouble;

export type Session = {
  api: SessionApi;
  kept: Kept;
  details: Details | null;
  status: Status | null;
  clock: ServiceClock | null;
  problem: LoadProblem | null;
  connected: boolean;
  /** The consent texts, if the page came with them. */
  texts: GivenTexts | null;
  /** The session was open when this page was loaded, so the person has seen it end. */
  sawItOpen: boolean;
  reload(): Promise<void>;
};

/** `given`: what came with the page. Without it the page asks. */
export function useSession(sessionId: string, given: Given | null): Session {
  const api = useMemo(() => new SessionApi(sessionId), [sessionId]);
  const kept = useMemo(() => new Kept(sessionId), [sessionId]);
  const [details, setDetails] = useState<Details | null>(given?.details ?? null);
  const [status, setStatus] = useState<Status | null>(given?.status ?? null);
  const [clock, setClock] = useState<ServiceClock | null>(() =>
    given === null ? null : clockOf(given.status.server_time),
  );
  const [problem, setProblem] = useState<LoadProblem | null>(null);
  const [connected, setConnected] = useState(true);
  const [sawItOpen, setSawItOpen] = useState(given !== null && !hasEnded(given.status));

  const updates = useRef(0);
  const reload = useCallback(async () => {
    const before = updates.current;
    try {
      const [loadedDetails, loadedStatus] = await Promise.all([api.details(), api.status()]);
      setDetails(loadedDetails);
      // The stream may have sent a newer state meanwhile, and it sends each state only once.
      if (updates.current === before) setStatus(loadedStatus);
      setClock(clockOf(loadedStatus.server_time));
      setProblem(null);
      if (!hasEnded(loadedStatus)) setSawItOpen(true);
    } catch (error) {
      const code = codeOf(error);
      const notFound = code === "SESSION_NOT_FOUND" || code === "INVALID_SESSION_ID";
      setProblem(notFound ? "not_found" : troubleOf(error));
    }
  }, [api]);

  useEffect(() => {
    if (given === null) void reload();
  }, [given, reload]);
  useEffect(forgetOldSessions, []);
  // A page that comes out of the browser's back/forward cache is as old as the moment when it was left.
  useEffect(() => {
    const onShow = (event: PageTransitionEvent) => {
      if (event.persisted) void reload();
    };
    window.addEventListener("pageshow", onShow);
    return () => window.removeEventListener("pageshow", onShow);
  }, [reload]);

  // Loads what failed without a network as soon as there is one.
  useEffect(() => {
    if (problem === null || problem === "not_found") return;
    const onOnline = () => void reload();
    window.addEventListener("online", onOnline);
    return () => window.removeEventListener("online", onOnline);
  }, [problem, reload]);

  const following = status !== null && !hasEnded(status);
  useEffect(() => {
    if (!following) return;
    const follower = followStatus(
      api,
      (next) => {
        updates.current += 1;
        setStatus(next);
        setClock(clockOf(next.server_time));
      },
      setConnected,
    );
    return follower.stop;
  }, [api, following]);

  const ended = status !== null && hasEnded(status);
  const canWithdraw = status?.status === "succeeded" && details?.consent?.withdrawn_at == null;
  // Before the page shows the end: a person may close it at once.
  useLayoutEffect(() => {
    if (ended && details !== null) kept.forget({ canWithdraw });
  }, [ended, canWithdraw, details, kept]);

  return {
    api,
    kept,
    details,
    status,
    clock,
    problem,
    connected,
    sawItOpen,
    texts: given?.texts ?? null,
    reload,
  };
}

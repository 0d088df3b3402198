import type { SessionApi, Status } from "./api.ts";

const pollMs = 3_000;
/** The page is hidden, but still notices the end. Browsers slow it down further. */
const hiddenPollMs = 15_000;
const streamAgainMs = 20_000;

type Follower = { stop(): void; refresh(): void };

export function hasEnded(status: Pick<Status, "status">): boolean {
  return status.status !== "created" && status.status !== "in_progress";
}

/**
 * Reports every change of the session, by the event stream. Without a stream (blocked by a proxy, too many
 * pages, no connection) it polls the status every few seconds and retries the stream from time to time.
 * A stream holds a connection, and over HTTP/1.1 a browser opens six to a host. So only a visible page has
 * one: it is closed with the page, which may survive in the back/forward cache, and while the page is hidden.
 */
export function followStatus(
  api: SessionApi,
  onStatus: (status: Status) => void,
  onConnection: (connected: boolean) => void,
): Follower {
  let source: EventSource | null = null;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let streamTimer: ReturnType<typeof setTimeout> | undefined;
  const listening = new AbortController();
  const { signal } = listening;
  let stopped = false;
  let updates = 0;

  const stop = () => {
    stopped = true;
    source?.close();
    clearTimeout(pollTimer);
    clearTimeout(streamTimer);
    listening.abort();
  };
  const closeStream = () => {
    source?.close();
    source = null;
    clearTimeout(streamTimer);
    clearTimeout(pollTimer);
  };
  const take = (status: Status) => {
    if (stopped) return;
    updates += 1;
    onConnection(true);
    onStatus(status);
    if (hasEnded(status)) stop();
  };
  const ask = async () => {
    const before = updates;
    try {
      const status = await api.status();
      // A status that the stream sent in the meantime may be newer than this answer.
      if (updates === before) take(status);
    } catch {
      if (!stopped) onConnection(false);
    }
  };
  const poll = async () => {
    await ask();
    clearTimeout(pollTimer);
    const isHidden = document.visibilityState === "hidden";
    if (!stopped && source === null)
      pollTimer = setTimeout(() => void poll(), isHidden ? hiddenPollMs : pollMs);
  };
  const openStream = () => {
    if (stopped || source !== null || document.visibilityState === "hidden") return;
    clearTimeout(pollTimer);
    const opened = new EventSource(api.eventsUrl());
    source = opened;
    opened.addEventListener("status", (event) => {
      try {
        take(JSON.parse((event as MessageEvent<string>).data) as Status);
      } catch {
        void ask();
      }
    });
    opened.onerror = () => {
      opened.close();
      if (source === opened) source = null;
      if (stopped) return;
      clearTimeout(streamTimer);
      streamTimer = setTimeout(openStream, streamAgainMs);
      void poll();
    };
  };
  const onVisibility = () => {
    closeStream();
    if (document.visibilityState === "hidden") pollTimer = setTimeout(() => void poll(), hiddenPollMs);
    else {
      openStream();
      void ask();
    }
  };
  // A phone that was asleep may hold a stream that died unnoticed.
  const onOnline = () => {
    if (document.visibilityState === "visible") void ask();
  };
  const onPageShow = (event: PageTransitionEvent) => {
    if (event.persisted) onVisibility();
  };
  document.addEventListener("visibilitychange", onVisibility, { signal });
  window.addEventListener("online", onOnline, { signal });
  window.addEventListener("pagehide", closeStream, { signal });
  window.addEventListener("pageshow", onPageShow, { signal });
  if (document.visibilityState === "hidden") void poll();
  else openStream();
  return { stop, refresh: () => void ask() };
}

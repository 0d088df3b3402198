import { Notice } from "@assay/ui/notice";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useWords } from "../i18n/language.ts";

function watchNetwork(onChange: () => void): () => void {
  window.addEventListener("online", onChange);
  window.addEventListener("offline", onChange);
  return () => {
    window.removeEventListener("online", onChange);
    window.removeEventListener("offline", onChange);
  };
}

/** Whether the device has a network. It may still not reach the service. */
export function useOnline(): boolean {
  return useSyncExternalStore(watchNetwork, () => navigator.onLine);
}

/** Runs when the network returns, to retry what failed without it. */
export function useWhenBack(run: () => void): void {
  useEffect(() => {
    window.addEventListener("online", run);
    return () => window.removeEventListener("online", run);
  }, [run]);
}

/**
 * Shown on every step while offline, always visible, as the only message about the network. Work in progress
 * continues automatically afterwards.
 */
export function OfflineNotice() {
  const { t } = useWords();
  if (useOnline()) return null;
  return (
    <div className="sticky top-2 z-2 mb-6">
      <Notice look="warn" title={t.offlineTitle} urgent>
        <p>{t.offlineText}</p>
      </Notice>
    </div>
  );
}

/**
 * The service is unreachable although there is a network.
 * Without a network, the notice above says so already.
 */
export function LostConnection({ connected }: { connected: boolean }) {
  const { t } = useWords();
  const online = useOnline();
  return connected || !online ? null : <Notice look="warn" title={t.connectionLost} urgent />;
}

/**
 * Shorter: an ordinary mobile network counts as slow.
 * Longer: people have left, and the request times out soon after.
 */
const slowAfterMs = 5_000;

/** True once something takes longer than people wait without a word. */
export function useSlow(goingOn: boolean): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!goingOn) return;
    const timer = setTimeout(() => setSlow(true), slowAfterMs);
    return () => clearTimeout(timer);
  }, [goingOn]);
  return slow;
}

export function Loading() {
  const { t } = useWords();
  const slow = useSlow(true);
  return (
    <div className="space-y-2">
      <p>{t.loading}</p>
      {slow && <p role="status">{t.slowText}</p>}
    </div>
  );
}

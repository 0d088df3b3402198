import { useSyncExternalStore } from "react";

/**
 * The token of a mailed link. It leaves the address bar at once, so that neither the history nor a shared
 * screen shows it.
 */
let token: string | null = null;
const listeners = new Set<() => void>();

export function takeMailedToken(): void {
  const found = /^#token=([A-Za-z0-9]+)$/.exec(window.location.hash)?.[1];
  if (found === undefined) return;
  token = found;
  window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
  for (const listener of listeners) listener();
}

export function useMailedToken(): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => token,
  );
}

import { sharedValue, useShared } from "../state/shared-value.ts";

/**
 * The token of a mailed link. It leaves the address bar at once, so that neither the history nor a shared
 * screen shows it.
 */
const token = sharedValue<string | null>(null);

export function takeMailedToken(): void {
  const found = /^#token=([A-Za-z0-9]+)$/.exec(window.location.hash)?.[1];
  if (found === undefined) return;
  window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
  token.set(found);
}

export function useMailedToken(): string | null {
  return useShared(token);
}

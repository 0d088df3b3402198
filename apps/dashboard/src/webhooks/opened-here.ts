import { useSyncExternalStore } from "react";

/**
 * Whether a user of this browser has decrypted an event of the organization. The service never sees decrypted
 * events, so the browser remembers it.
 */
const keyOf = (organizationId: string) => `assay.opened-event.${organizationId}`;
const listeners = new Set<() => void>();

export function rememberOpened(organizationId: string): void {
  try {
    window.localStorage.setItem(keyOf(organizationId), "yes");
  } catch {
    // Storage can be turned off; then it is not remembered.
  }
  for (const listener of listeners) listener();
}

export function useOpenedHere(organizationId: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => {
      try {
        return window.localStorage.getItem(keyOf(organizationId)) !== null;
      } catch {
        return false;
      }
    },
  );
}

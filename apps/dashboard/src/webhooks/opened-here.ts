import { useSyncExternalStore } from "react";

/**
 * Whether somebody has opened an event of the organization in this browser. The service cannot know it, as it never
 * sees what an event says; so the browser remembers that it happened, and nothing else.
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

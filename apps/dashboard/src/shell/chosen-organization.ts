import { useSyncExternalStore } from "react";
import { readStored, store } from "../state/stored.ts";

const storageKey = "assay.organization";
let chosen: string | null = readStored(storageKey);

/** The organization that this tab works in, as it was when the page was loaded. */
export function chosenOrganization(): string | null {
  return chosen;
}

/**
 * The service keeps one active organization for each sign-in, which all tabs share. A tab that finds another
 * choice says so instead of acting in that organization.
 */
export function rememberOrganization(id: string): void {
  chosen = id;
  store(storageKey, id);
}

/** The organization that another tab has switched to, or null. */
export function useOtherTabsChoice(): string | null {
  return useSyncExternalStore(
    (listener) => {
      const onStorage = (event: StorageEvent) => {
        if (event.key === storageKey) listener();
      };
      window.addEventListener("storage", onStorage);
      return () => window.removeEventListener("storage", onStorage);
    },
    () => {
      const stored = readStored(storageKey);
      return stored !== null && chosen !== null && stored !== chosen ? stored : null;
    },
  );
}

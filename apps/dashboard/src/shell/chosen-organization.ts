import { useSyncExternalStore } from "react";

const storageKey = "assay.organization";
let chosen: string | null = read();

function read(): string | null {
  try {
    return window.localStorage.getItem(storageKey);
  } catch {
    // Storage can be turned off; the choice then lasts until the page is loaded again.
    return null;
  }
}

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
  try {
    window.localStorage.setItem(storageKey, id);
  } catch {
    // Storage can be turned off, as above.
  }
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
      const stored = read();
      return stored !== null && chosen !== null && stored !== chosen ? stored : null;
    },
  );
}

import { getAccount } from "@assay/contract/accounts";
import { call, hasCode } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { store } from "../state/stored.ts";
import { forgetSearches } from "./recent-searches.ts";

const storageKey = "assay.signed-out";
const signInPath = "/dashboard/sign-in";

/** Ends the session in the browser: no data stays on the page, in its memory, or in another tab. */
export function leaveSignedOut(): void {
  hidePage();
  queries.clear();
  tellOtherTabs();
  window.location.replace(signInPath);
}

export function tellOtherTabs(): void {
  forgetSearches();
  // The change notifies every other tab; the value only has to differ. Without storage the tabs notice with
  // their next request.
  store(storageKey, String(Date.now()));
}

function hidePage(): void {
  document.documentElement.hidden = true;
}

function showPage(): void {
  document.documentElement.hidden = false;
}

/**
 * A browser may keep a page in its back/forward cache. So the page hides itself when it is left, and
 * reappears only for the same user. Returns a function that stops this.
 */
export function guardPage(accountId: string): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key !== storageKey) return;
    hidePage();
    forgetSearches();
    queries.clear();
    window.location.replace(signInPath);
  };
  const onPageShow = async (event: PageTransitionEvent) => {
    if (!event.persisted) return;
    try {
      const { data } = await call(getAccount, {});
      if (data.id !== accountId) return window.location.replace("/dashboard");
      showPage();
      await queries.invalidateQueries();
    } catch (error) {
      if (hasCode(error, "UNAUTHORIZED")) {
        forgetSearches();
        queries.clear();
        window.location.replace(signInPath);
      }
      // A fresh page reports that the service cannot be reached.
      else window.location.reload();
    }
  };
  const stop = new AbortController();
  const { signal } = stop;
  window.addEventListener("storage", onStorage, { signal });
  window.addEventListener("pagehide", hidePage, { signal });
  window.addEventListener("pageshow", (event) => void onPageShow(event), { signal });
  return () => stop.abort();
}

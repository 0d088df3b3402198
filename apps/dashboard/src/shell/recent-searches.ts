import { readStored, store } from "../state/stored.ts";

const storageKey = "assay.recent-searches";
const maxKept = 5;

type Kept = { organizationId: string; texts: string[] };

/**
 * References are the partner's data: they stay in this tab, for one organization, until sign-out. Null if
 * there are none.
 */
function read(organizationId: string): Kept | null {
  try {
    const kept = JSON.parse(readStored(storageKey, "sessionStorage") ?? "null") as Kept | null;
    return kept?.organizationId === organizationId ? kept : null;
  } catch {
    return null;
  }
}

export function recentSearches(organizationId: string): readonly string[] {
  return read(organizationId)?.texts ?? [];
}

export function rememberSearch(organizationId: string, text: string): void {
  const others = recentSearches(organizationId).filter((each) => each !== text);
  const kept: Kept = { organizationId, texts: [text, ...others].slice(0, maxKept) };
  store(storageKey, JSON.stringify(kept), "sessionStorage");
}

export function forgetSearches(): void {
  store(storageKey, null, "sessionStorage");
}

const storageKey = "assay.recent-searches";
const maxKept = 5;

type Kept = { organizationId: string; texts: string[] };

/**
 * References are the partner's data: they stay in this tab, for one organization, until sign-out. Null if
 * there are none, or storage is turned off.
 */
function read(organizationId: string): Kept | null {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(storageKey) ?? "null") as Kept | null;
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
  try {
    window.sessionStorage.setItem(storageKey, JSON.stringify(kept));
  } catch {
    // Storage can be turned off or full; then nothing is remembered.
  }
}

export function forgetSearches(): void {
  try {
    window.sessionStorage.removeItem(storageKey);
  } catch {
    // Storage that is turned off has nothing to forget.
  }
}

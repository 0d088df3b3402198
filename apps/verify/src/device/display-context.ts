/**
 * Where this page is shown: alone, in a frame of the partner's page, or in a tab that such a frame opened and
 * that follows it. Only an origin that the session names may frame it (`frame-ancestors`), so the parent may
 * get the progress.
 */
type DisplayContext = "alone" | "frame" | "tab";

/** In the fragment of an address that a frame opens in a tab. */
export const tabMark = "tab";

let context: DisplayContext = "alone";

export function displayContext(): DisplayContext {
  return context;
}

/** Once, before anything is drawn. `fromFrame`: the address says that a frame opened it. */
export function detectDisplayContext(sessionId: string, fromFrame: boolean): void {
  const key = `assay:${sessionId}:tab`;
  if (window.parent !== window) {
    context = "frame";
    document.documentElement.dataset.place = context;
    return;
  }
  try {
    if (fromFrame) sessionStorage.setItem(key, "yes");
    context = sessionStorage.getItem(key) === null ? "alone" : "tab";
  } catch {
    context = fromFrame ? "tab" : "alone";
  }
}

/**
 * Browsers that partition storage may refuse it to a framed page;
 * its tokens then live as long as it is loaded.
 */
export function isStorageRefused(): boolean {
  try {
    window.sessionStorage.setItem("assay:try", "");
    window.sessionStorage.removeItem("assay:try");
    return false;
  } catch {
    return true;
  }
}

/**
 * The camera is off in a frame whose page did not pass it on (`allow="camera"`).
 * Other browsers report this only when it is opened.
 */
export function isCameraKeptFromFrame(): boolean {
  const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
  return context === "frame" && featurePolicy?.allowsFeature("camera") === false;
}

/**
 * Links that must leave the frame, because an app, a shop or another page would open inside the partner's.
 */
export function linkTarget(): "_blank" | undefined {
  return context === "frame" ? "_blank" : undefined;
}

/**
 * Where this page is shown: by itself, in a frame of the partner's page, or in a tab that such a frame has opened and that follows it.
 * Only an origin that the session names gets to show it in a frame (`frame-ancestors`), so the page above may receive the progress.
 */
type Place = "alone" | "frame" | "tab";

/** In the fragment of an address that a frame opens in a tab. */
export const tabMark = "tab";

let place: Place = "alone";

export function placeNow(): Place {
  return place;
}

/** Once, before anything is drawn. `fromFrame`: the address says that a frame opened it. */
export function findPlace(sessionId: string, fromFrame: boolean): void {
  const key = `assay:${sessionId}:tab`;
  if (window.parent !== window) {
    place = "frame";
    document.documentElement.dataset.place = place;
    return;
  }
  try {
    if (fromFrame) sessionStorage.setItem(key, "yes");
    place = sessionStorage.getItem(key) === null ? "alone" : "tab";
  } catch {
    place = fromFrame ? "tab" : "alone";
  }
}

/** Browsers that keep pages apart by who shows them may refuse a framed one all storage; its tokens then live as long as it is loaded. */
export function isStorageRefused(): boolean {
  try {
    window.sessionStorage.setItem("assay:try", "");
    window.sessionStorage.removeItem("assay:try");
    return false;
  } catch {
    return true;
  }
}

/** The camera is off in a frame whose page did not pass it on (`allow="camera"`). Browsers that do not tell answer when it is opened. */
export function isCameraKeptFromFrame(): boolean {
  const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
  return place === "frame" && featurePolicy?.allowsFeature("camera") === false;
}

/** Links that must not stay in a frame, where an app, a shop or another page would come up inside of the partner's. */
export function linkTarget(): "_blank" | undefined {
  return place === "frame" ? "_blank" : undefined;
}

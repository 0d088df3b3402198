import { placeNow } from "./place.ts";

/**
 * Whoever frames a page can make it invisible and lead the person's click to it (clickjacking). So in a frame consent counts only where the browser
 * says that the button is really to be seen: not covered, not transparent, not distorted (`trackVisibility`, Intersection Observer v2), and for a while.
 */

/** Halved, a frame that is shown under a click in the last moment gets through; doubled, quick readers are told to wait. */
const buttonMs = 1_000;
/** The heading, which names who asks, must have been seen as well, so that a frame cut down to its button does not count. */
const headingMs = 500;
/** The browser tells only when this is crossed, so it is the very number that is asked for; a little less than all, because a pixel may be cut in two. */
const shareInSight = 0.9;

type Seen = { sinceMs: number | null; longestMs: number };

const unseen: Seen = { sinceMs: null, longestMs: 0 };

/** What is known of one element after the browser said whether it is to be seen now. */
export function afterSight(seen: Seen, isVisible: boolean, nowMs: number): Seen {
  if (isVisible) return { ...seen, sinceMs: seen.sinceMs ?? nowMs };
  return { sinceMs: null, longestMs: longest(seen, nowMs) };
}

function longest({ sinceMs, longestMs }: Seen, nowMs: number): number {
  return sinceMs === null ? longestMs : Math.max(longestMs, nowMs - sinceMs);
}

/** The button for all of the last while, the heading at any time. */
export function isSeen(button: Seen, heading: Seen, nowMs: number): boolean {
  return (
    button.sinceMs !== null && nowMs - button.sinceMs >= buttonMs && longest(heading, nowMs) >= headingMs
  );
}

type Sighted = {
  button: Element;
  heading: Element;
  seen: Map<Element, Seen>;
  observer: IntersectionObserver;
};
let sighted: Sighted | null = null;

/** Whether the browser can tell at all. Where it cannot (Firefox, Safari), consent is given in a tab. */
export function canTellSight(): boolean {
  return "IntersectionObserverEntry" in window && "isVisible" in IntersectionObserverEntry.prototype;
}

/** Watches this button and the heading of the page; null: the button is gone. */
export function watchSight(button: Element | null): void {
  if (placeNow() !== "frame" || !canTellSight()) return;
  const heading = document.querySelector("h1");
  if (button === sighted?.button && heading === sighted?.heading) return;
  // What was seen of the heading still counts when only the button is another one.
  const before = heading === sighted?.heading && heading !== null ? sighted.seen.get(heading) : undefined;
  sighted?.observer.disconnect();
  sighted = null;
  if (button === null || heading === null) return;
  const seen = new Map<Element, Seen>([
    [button, unseen],
    [heading, before ?? unseen],
  ]);
  const options = { trackVisibility: true, delay: 100, threshold: shareInSight };
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries as (IntersectionObserverEntry & { isVisible?: boolean })[]) {
      const isVisible = entry.isVisible === true && entry.intersectionRatio >= shareInSight;
      seen.set(entry.target, afterSight(seen.get(entry.target) ?? unseen, isVisible, performance.now()));
    }
  }, options);
  sighted = { button, heading, seen, observer };
  observer.observe(button);
  observer.observe(heading);
}

/** Asked once more where consent is sent, so that no screen can forget it. */
export function mayConsentNow(): boolean {
  if (placeNow() !== "frame") return true;
  if (sighted === null) return false;
  const of = (element: Element) => sighted?.seen.get(element) ?? unseen;
  return isSeen(of(sighted.button), of(sighted.heading), performance.now());
}

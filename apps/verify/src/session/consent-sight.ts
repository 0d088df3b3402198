import { placeNow } from "../device/place.ts";

/**
 * A framing page can make this one invisible and lead the person's click to it (clickjacking). So in a frame consent
 * counts only where the browser says that the button is really to be seen: not covered, not transparent, not distorted
 * (`trackVisibility`, Intersection Observer v2), and for a while.
 */

/** With less, a frame that appears under a click at the last moment gets through; with more, quick readers have to wait. */
const buttonMs = 1_000;
/**
 * What is agreed to must have been seen as well: who asks, every field, a warning, the words of the check box.
 * Otherwise a frame that is cut down to its heading and its button would count, below somebody else's words about what
 * is shared.
 */
const partMs = 500;
/**
 * The browser tells only when this is crossed, so it is the very number that is asked for; a little less than all,
 * because a pixel may be cut in two.
 */
const shareInSight = 0.9;

// Not in the types of the library yet, so it is no literal where it is used.
const howToLook = { trackVisibility: true, delay: 100, threshold: shareInSight };

/** Marks what must be seen before consent counts in a frame, beside the heading: `{...mustBeSeen}` in the markup. */
export const mustBeSeen = { "data-must-be-seen": "" } as const;

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

/** The button for all of the last while, each other part at any time. */
export function isSeen(button: Seen, parts: readonly Seen[], nowMs: number): boolean {
  return (
    button.sinceMs !== null &&
    nowMs - button.sinceMs >= buttonMs &&
    parts.length > 0 &&
    parts.every((part) => longest(part, nowMs) >= partMs)
  );
}

/** What is watched, and what is known of it. A part that comes later is unseen; one that is gone is not asked for. */
const seen = new Map<Element, Seen>();
let watchedButton: Element | null = null;
let observer: IntersectionObserver | null = null;

/** Whether the browser can tell at all. Where it cannot (Firefox, Safari), consent is given in a tab. */
export function canTellSight(): boolean {
  return "IntersectionObserverEntry" in window && "isVisible" in IntersectionObserverEntry.prototype;
}

/** Watches this button and what is agreed to with it; null: the button is gone. Called after everything that is drawn. */
export function watchSight(button: Element | null): void {
  if (placeNow() !== "frame" || !canTellSight()) return;
  watchedButton = button;
  const parts = button === null ? [] : [button, ...document.querySelectorAll("h1, [data-must-be-seen]")];
  observer ??= new IntersectionObserver(note, howToLook);
  for (const element of seen.keys()) {
    if (parts.includes(element)) continue;
    observer.unobserve(element);
    seen.delete(element);
  }
  for (const element of parts) {
    if (seen.has(element)) continue;
    seen.set(element, unseen);
    observer.observe(element);
  }
}

function note(entries: readonly (IntersectionObserverEntry & { isVisible?: boolean })[]): void {
  for (const { target, isVisible, intersectionRatio } of entries) {
    const known = seen.get(target);
    if (known === undefined) continue;
    const isInSight = isVisible === true && intersectionRatio >= shareInSight;
    seen.set(target, afterSight(known, isInSight, performance.now()));
  }
}

/** Asked once more where consent is sent, so that no screen can forget it. */
export function mayConsentNow(): boolean {
  if (placeNow() !== "frame") return true;
  const button = watchedButton === null ? undefined : seen.get(watchedButton);
  if (button === undefined) return false;
  const parts = [...seen].filter(([element]) => element !== watchedButton).map(([, part]) => part);
  return isSeen(button, parts, performance.now());
}

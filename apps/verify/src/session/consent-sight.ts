import { displayContext } from "../device/display-context.ts";

/**
 * A framing page can make this one invisible and redirect the person's click to it (clickjacking). So in a
 * frame consent counts only if the browser reports the button as visible for a while: not covered,
 * transparent or distorted (`trackVisibility`, Intersection Observer v2).
 */

/** Shorter: a frame that appears under a click at the last moment passes. Longer: quick readers must wait. */
const buttonMs = 1_000;
/**
 * The person must have seen all that they agree to: who asks, every field, a warning, the check box.
 * Otherwise a frame cropped to its heading and button would count, below another text about what is shared.
 */
const partMs = 500;
/**
 * The browser reports only crossings of this value, so the check uses the same number. A little less than
 * all, because a pixel may be split.
 */
const shareInSight = 0.9;

// Not in the library's types yet, so it is no literal at its use.
const howToLook = { trackVisibility: true, delay: 100, threshold: shareInSight };

/**
 * Marks an element that must be seen before consent counts in a frame,
 * besides the heading: `{...mustBeSeen}`.
 */
export const mustBeSeen = { "data-must-be-seen": "" } as const;

type Seen = { sinceMs: number | null; longestMs: number };

const unseen: Seen = { sinceMs: null, longestMs: 0 };

/** The state of one element after the browser reported its visibility. */
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

/**
 * Watched elements and their state.
 * A part that is added later counts as unseen; a removed one does not count.
 */
const seen = new Map<Element, Seen>();
let watchedButton: Element | null = null;
let observer: IntersectionObserver | null = null;

/** Whether the browser reports visibility. Without it (Firefox, Safari), consent is given in a tab. */
export function canObserveVisibility(): boolean {
  return "IntersectionObserverEntry" in window && "isVisible" in IntersectionObserverEntry.prototype;
}

/** Watches this button and what is agreed to with it; null: the button is gone. Called after every render. */
export function watchSight(button: Element | null): void {
  if (displayContext() !== "frame" || !canObserveVisibility()) return;
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
  if (displayContext() !== "frame") return true;
  const button = watchedButton === null ? undefined : seen.get(watchedButton);
  if (button === undefined) return false;
  const parts = [...seen].filter(([element]) => element !== watchedButton).map(([, part]) => part);
  return isSeen(button, parts, performance.now());
}

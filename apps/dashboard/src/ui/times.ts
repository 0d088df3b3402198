import { intlTag, t } from "../i18n/words.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Created on first use, because the browser loads tables of the language for it. A script that created all
 * formats took 29 ms to start instead of 10.
 */
function whenNeeded<T>(make: (tag: string) => T): () => T {
  let made: { tag: string; format: T } | null = null;
  return () => {
    if (made?.tag !== intlTag) made = { tag: intlTag, format: make(intlTag) };
    return made.format;
  };
}

const relative = whenNeeded((tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));
/** After this many days, a date is clearer than a count of days. */
const maxRelativeDays = 26;

/**
 * `5 minutes ago`, `in 2 days`; null if the date is clearer. Without `isAhead` the moment has passed, even if
 * the page's clock is some seconds behind.
 */
export function relativeTime(at: Date, now: Date, isAhead = false): string | null {
  const gapMs = at.getTime() - now.getTime();
  const size = Math.abs(gapMs);
  if (size < 45_000) return isAhead && gapMs > 0 ? t.ui.times.inAMoment : t.ui.times.justNow;
  if (size < 45 * minuteMs) return relative().format(Math.round(gapMs / minuteMs), "minute");
  if (size < 22 * hourMs) return relative().format(Math.round(gapMs / hourMs), "hour");
  if (size < maxRelativeDays * dayMs) return relative().format(Math.round(gapMs / dayMs), "day");
  return null;
}

/** `3 days ago` for -3. */
export function relativeDays(days: number): string {
  return relative().format(days, "day");
}

const zoned = { timeZoneName: "short" } as const;
const day = { day: "numeric", month: "short", year: "numeric" } as const;
const minute = { ...day, hour: "2-digit", minute: "2-digit", ...zoned } as const;
const titled = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;
const titleFormat = whenNeeded((tag) => new Intl.DateTimeFormat(tag, titled));
const oldTitleFormat = whenNeeded((tag) => new Intl.DateTimeFormat(tag, { ...titled, year: "numeric" }));
const dayFormat = whenNeeded((tag) => new Intl.DateTimeFormat(tag, day));
const timeFormat = whenNeeded((tag) => new Intl.DateTimeFormat(tag, minute));
const exactFormat = whenNeeded((tag) => new Intl.DateTimeFormat(tag, { ...minute, second: "2-digit" }));

/** `15 Nov 2026`, in the reader's time zone. */
export function dayText(at: Date): string {
  return dayFormat().format(at);
}

/** `15 Nov 2026, 23:20 CET`, in the reader's time zone. */
export function zonedTime(at: Date, exact = false): string {
  return (exact ? exactFormat() : timeFormat()).format(at);
}

/** `15 Nov, 23:20` for a title, with the year if it is not the current one. */
export function titleTime(at: Date, now: Date): string {
  return (at.getFullYear() === now.getFullYear() ? titleFormat() : oldTitleFormat()).format(at);
}

/** `1 min 20 s`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 90) return `${whole} s`;
  if (whole < 90 * 60)
    return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`;
}

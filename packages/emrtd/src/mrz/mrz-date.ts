import { clockSkewMilliseconds } from "../clock-skew.ts";
import { EmrtdError } from "../emrtd-error.ts";

/**
 * The age of the oldest living person (2026), counted in calendar years. With a larger number, adults would
 * have to prove their century with DG11, which many states leave out. With half of it, people over a hundred
 * would be taken for children.
 */
export const maxLifeYears = 117;
const expiryYearsAhead = 20;
const expiryYearsBack = 30;
const dayMilliseconds = 86_400_000;

/** A date of the zone. Issuers leave out what they do not know, so any part may be missing. */
export type MrzDate = {
  /** The six characters of the zone. */
  readonly raw: string;
  readonly year: number | null;
  readonly month: number | null;
  readonly day: number | null;
  /** Other years that the two digits may mean, if the zone leaves it open. */
  readonly otherYears: readonly number[];
};

type Parts = {
  readonly twoDigitYear: number | null;
  readonly month: number | null;
  readonly day: number | null;
};

function parseParts(raw: string, what: string): Parts {
  if (!/^(?:\d{2}|<<){3}$/.test(raw))
    throw new EmrtdError("MRZ_INVALID", `The ${what} must be digits or pairs of fillers`);
  const twoDigitYear = pairAt(raw, 0);
  // Zero means an unknown month or day, like fillers.
  const month = pairAt(raw, 2) || null;
  const day = pairAt(raw, 4) || null;
  if ((month ?? 1) > 12 || (day ?? 1) > maxDay(month)) {
    throw new EmrtdError("MRZ_INVALID", `The ${what} does not exist`);
  }
  return { twoDigitYear, month, day };
}

const zeroDigit = 0x30;
const filler = 0x3c;

/** The number in a pair of digits, null for a pair of fillers. */
function pairAt(raw: string, start: number): number | null {
  const tens = raw.charCodeAt(start);
  return tens === filler ? null : (tens - zeroDigit) * 10 + raw.charCodeAt(start + 1) - zeroDigit;
}

function maxDay(month: number | null): number {
  if (month === 2) return 29;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function exists(year: number, parts: Parts): boolean {
  return parts.month !== 2 || parts.day !== 29 || isLeap(year);
}

/** Days since 1970 began, counted in the calendar of UTC. */
function dayNumber(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / dayMilliseconds;
}

/** Negative if the earliest possible day is before the UTC day of `at`. */
function daysFrom(at: Date, year: number, parts: Pick<Parts, "month" | "day">): number {
  const today = Math.floor(at.getTime() / dayMilliseconds);
  return dayNumber(year, parts.month ?? 1, parts.day ?? 1) - today;
}

/**
 * A birth lies in the past, so the latest such century comes first. `otherYears` has the other century of a
 * person who may be alive. A caller that needs the year decides with `withFullDateOfBirth` or
 * `withBirthBefore`, or treats it as unknown.
 */
export function readDateOfBirth(raw: string, at: Date): MrzDate {
  const parts = parseParts(raw, "date of birth");
  if (parts.twoDigitYear === null)
    return { raw, year: null, month: parts.month, day: parts.day, otherYears: [] };
  const twoDigitYear = parts.twoDigitYear;
  const thisYear = at.getUTCFullYear();
  const thisCentury = thisYear - (thisYear % 100);
  let year: number | null = null;
  const otherYears: number[] = [];
  for (let century = thisCentury; century >= thisCentury - 200; century -= 100) {
    const candidate = century + twoDigitYear;
    if (!exists(candidate, parts) || daysFrom(at, candidate, parts) > 0) continue;
    if (year === null) year = candidate;
    else if (thisYear - candidate <= maxLifeYears) otherYears.push(candidate);
  }
  if (year === null) throw new EmrtdError("MRZ_INVALID", "The date of birth does not exist");
  return { raw, year, month: parts.month, day: parts.day, otherYears };
}

/**
 * Documents are valid for about ten years. The window reaches from thirty years back to twenty ahead. Two
 * digits outside of it mean the nearer year, and `otherYears` has the other one.
 */
export function readDateOfExpiry(raw: string, at: Date): MrzDate {
  const parts = parseParts(raw, "date of expiry");
  if (parts.twoDigitYear === null)
    return { raw, year: null, month: parts.month, day: parts.day, otherYears: [] };
  const twoDigitYear = parts.twoDigitYear;
  const thisYear = at.getUTCFullYear();
  const thisCentury = thisYear - (thisYear % 100);
  const distance = (year: number) =>
    Math.max(year - (thisYear + expiryYearsAhead), thisYear - expiryYearsBack - year, 0);
  let year: number | null = null;
  let next: number | null = null;
  // Of two equally distant years, the earlier one comes first.
  for (let century = thisCentury - 100; century <= thisCentury + 100; century += 100) {
    const candidate = century + twoDigitYear;
    if (!exists(candidate, parts)) continue;
    if (year === null || distance(candidate) < distance(year)) {
      next = year;
      year = candidate;
    } else if (next === null || distance(candidate) < distance(next)) next = candidate;
  }
  if (year === null) throw new EmrtdError("MRZ_INVALID", "The date of expiry does not exist");
  const otherYears = distance(year) > 0 && next !== null ? [next] : [];
  return { raw, year, month: parts.month, day: parts.day, otherYears };
}

/** The years that the two digits may mean, the latest first; none when the year is not known. */
export function possibleYears({ year, otherYears }: MrzDate): readonly number[] {
  return year === null ? [] : [year, ...otherYears];
}

/** A document is issued after the birth, so the state's signature time can settle the century. */
export function withBirthBefore(date: MrzDate, time: Date): MrzDate {
  const latest = new Date(time.getTime() + clockSkewMilliseconds);
  const [year, ...otherYears] = possibleYears(date).filter(
    (candidate) => daysFrom(latest, candidate, date) <= 0,
  );
  return year === undefined ? date : { ...date, year, otherYears };
}

/** YYYY-MM-DD, or null when a part is not known. */
export function isoDate(date: MrzDate): string | null {
  if (date.year === null || date.month === null || date.day === null) return null;
  return `${String(date.year).padStart(4, "0")}-${String(date.month).padStart(2, "0")}-${String(date.day).padStart(2, "0")}`;
}

function lastMonthAndDay(year: number, date: MrzDate): { readonly month: number; readonly day: number } {
  const month = date.month ?? 12;
  if (date.month === null) return { month, day: 31 };
  return { month, day: date.day ?? new Date(Date.UTC(year, month, 0)).getUTCDate() };
}

/**
 * The first moment after the last valid day, in milliseconds. An unknown month or day counts as the last one.
 * Null without a year: such documents do not expire.
 */
export function endOfValidity(date: MrzDate): number | null {
  if (date.year === null) return null;
  const { month, day } = lastMonthAndDay(date.year, date);
  return (dayNumber(date.year, month, day) + 1) * dayMilliseconds;
}

/**
 * DG11 may have the date of birth with its century. It decides between the years that the zone allows. If it
 * contradicts the zone, the zone counts.
 */
export function withFullDateOfBirth(date: MrzDate, fullDate: string): MrzDate {
  const match = /^(\d{4})(\d{2})(\d{2})$/.exec(fullDate);
  if (match === null || date.year === null || fullDate.slice(2, 4) !== date.raw.slice(0, 2)) return date;
  const [month, day] = [Number(match[2]), Number(match[3])];
  if ((date.month !== null && month !== date.month) || (date.day !== null && day !== date.day)) return date;
  const year = Number(match[1]);
  if (year !== date.year && !date.otherYears.includes(year)) return date;
  return { ...date, year, otherYears: [] };
}

import { type MrzDate, possibleYears } from "./mrz-date.ts";

/**
 * Whether the person has completed this number of years on the day of the check (UTC). Null if the answer
 * depends on an open century of birth. For an incomplete date the answer is the certain one: an unknown day
 * or month counts as the last, an unknown year as too young. A birthday on 29 February falls on 1 March in
 * other years.
 */
export function isAtLeast(birth: MrzDate, years: number, now: Date): boolean | null {
  const answers = new Set(possibleYears(birth).map((year) => isAtLeastWith(year, birth, years, now)));
  const [answer = false, another] = answers;
  return another === undefined ? answer : null;
}

function isAtLeastWith(year: number, birth: MrzDate, years: number, now: Date): boolean {
  const month = birth.month ?? 12;
  const day = birth.day ?? new Date(Date.UTC(year, month, 0)).getUTCDate();
  // 29 February in a year without one rolls over to 1 March, as it should.
  const birthday = Date.UTC(year + years, month - 1, day);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()) >= birthday;
}

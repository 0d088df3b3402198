import { dayMs, hourMs, later } from "../kernel/clock.ts";
import { floorOf, type IdKind, madeAt } from "../kernel/ids.ts";

/**
 * A table that is kept in parts (partitioned) by the time that its ids begin with. `before` holds what there was when the table was divided, dated parts follow
 * it without a gap, and `rest` (the default partition) takes what no dated part is there for, so that a row is never refused.
 */
export type DividedTable = {
  table: string;
  /** The column by which it is divided. */
  key: string;
  ids: IdKind;
};

export type Part =
  | { kind: "before"; name: string; to: Date }
  | { kind: "dated"; name: string; from: Date; to: Date }
  | { kind: "rest"; name: string };

export type Width = "day" | "week" | "month";

/**
 * What is past its time goes with its part, so it stays for up to the width of one longer. A list looks into every part, so there may not be many: with one for each
 * of 30 days a list of events took twenty times as long as in one table, most of it for planning. With half of these numbers more is kept for longer than it
 * need be; doubled, lists of quiet organizations are felt.
 */
const mostDaysInDays = 14;
const mostDaysInWeeks = 200;

export function widthFor(keptDays: number): Width {
  return keptDays <= mostDaysInDays ? "day" : keptDays <= mostDaysInWeeks ? "week" : "month";
}

// So long ahead that nobody notices a worker that is away for some days. Each part more is one more to look into.
const aheadDays: Record<Width, number> = { day: 3, week: 9, month: 20 };

/** The first bound of parts of this width after a moment: midnight of a day, a Monday, the first of a month (UTC). */
export function boundAfter(at: Date, width: Width): Date {
  const midnight = new Date(Math.floor(at.getTime() / dayMs) * dayMs);
  if (width === "day") return later(midnight, dayMs);
  // 1970-01-05 was a Monday.
  if (width === "week") return later(midnight, (7 - ((midnight.getTime() / dayMs + 3) % 7)) * dayMs);
  return new Date(Date.UTC(midnight.getUTCFullYear(), midnight.getUTCMonth() + 1, 1));
}

export function partName(table: string, from: Date): string {
  return `${table}_from_${from.toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Reads a part from its bounds as PostgreSQL shows them. */
export function readPart(name: string, bound: string): Part {
  if (bound === "DEFAULT") return { kind: "rest", name };
  const [, from, to] = /^FOR VALUES FROM \((MINVALUE|'[^']+')\) TO \('([^']+)'\)$/.exec(bound) ?? [];
  if (from === undefined || to === undefined)
    throw new Error(`the part ${name} has bounds that we do not make`);
  return from === "MINVALUE"
    ? { kind: "before", name, to: madeAt(to) }
    : { kind: "dated", name, from: madeAt(from.slice(1, -1)), to: madeAt(to) };
}

/**
 * The parts that are to be made now. They follow the last one, unless that lies in the past, because nobody made parts for a while or the clock was moved, or the
 * rest holds something newer, which stays there.
 */
export function missingParts(
  parts: readonly Part[],
  newestInRest: Date | null,
  width: Width,
  now: Date,
): { from: Date; to: Date }[] {
  const last = endOf(parts);
  if (last === null) return [];
  const newest = newestInRest !== null && newestInRest >= last ? newestInRest : null;
  const reached = newest === null ? now : new Date(Math.max(now.getTime(), newest.getTime()));
  const missing: { from: Date; to: Date }[] = [];
  for (let from = newest === null && last > now ? last : boundAfter(reached, "day"); ; ) {
    if (from.getTime() > now.getTime() + aheadDays[width] * dayMs) return missing;
    const to = boundAfter(from, width);
    missing.push({ from, to });
    from = to;
  }
}

/** Until when rows find a part that is meant for them. */
export function endOf(parts: readonly Part[]): Date | null {
  const ends = parts.flatMap((part) => (part.kind === "rest" ? [] : [part.to.getTime()]));
  return ends.length === 0 ? null : new Date(Math.max(...ends));
}

/** The first id that goes with its part, and not by itself; null where all rows go by themselves. */
export function firstWithItsPart(ids: IdKind, parts: readonly Part[]): string | null {
  const froms = parts.flatMap((part) => (part.kind === "dated" ? [part.from.getTime()] : []));
  return froms.length === 0 ? null : floorOf(ids, new Date(Math.min(...froms)));
}

/** The smaller of two bounds of ids: rows below it are past their time and go by themselves. */
export function rowsBelow(cutoff: string, firstInParts: string | null): string {
  return firstInParts === null || cutoff < firstInParts ? cutoff : firstInParts;
}

/** When a table is divided, what it holds must end before this: a day ahead, so that dividing it has a day's time. */
export function endOfBefore(newest: Date | null, now: Date): Date {
  return boundAfter(new Date(Math.max(now.getTime(), newest?.getTime() ?? 0) + dayMs), "day");
}

/** As long as a table is being divided it takes no row beyond this end. Nobody may ever come near to it. */
export function isTooClose(end: Date, now: Date): boolean {
  return end.getTime() - now.getTime() < 12 * hourMs;
}

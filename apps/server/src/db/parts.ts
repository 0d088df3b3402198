import { type Clock, dayMs, hourMs, later } from "../kernel/clock.ts";
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

// --- lists -------------------------------------------------------------------------------------------------------------

/** Ids from the first up to, and without, the second. */
export type Stretch = { from: string; before: string };

/** The ids that a list of a table can have, and what it is a list of: whose, and by what it is filtered. Of `scarce` lists not even a page is expected. */
export type Listed = {
  table: string;
  of: readonly (string | number | undefined)[];
  range: Stretch;
  scarce: boolean;
};

/** A list in stretches. Whoever has read a page tells what the last id of it was, or null where there were not enough for one; `wasFull` is what was told the last time. */
export type CutUp = {
  stretches: readonly Stretch[];
  wasFull: boolean;
  noteLast: (last: string | null) => void;
};

/** Null where the table of the list is in one piece. */
export type CutList = (list: Listed, reaches: Reaches) => CutUp | null;

/** How far back a page was looked for, and whether it was full then. */
type Reach = { ms: number; wasFull: boolean };

/**
 * How far back pages of lists reached when they were last read. To know it saves asking a second time, or looking into a part for nothing. It is a hint: a process that has forgotten it, or never
 * knew, reads the same page.
 */
export class Reaches {
  /** In order of their last use. */
  readonly #reaches = new Map<string, Reach>();
  /** Lists of many references go by once each. A tenth of it, and they push out those that are looked at all day; ten times as many would take 20 MB. */
  readonly #most: number;

  constructor(most = 10_000) {
    this.#most = most;
  }

  of(list: string): Reach | null {
    return this.#reaches.get(list) ?? null;
  }

  note(list: string, reach: Reach): void {
    this.#reaches.delete(list);
    this.#reaches.set(list, reach);
    if (this.#reaches.size <= this.#most) return;
    const [oldest] = this.#reaches.keys();
    if (oldest !== undefined) this.#reaches.delete(oldest);
  }
}

/** What a process knows of the parts of a table. It may be old: where rows are does not depend on it, only where they are looked for first. */
export type KnownParts = {
  ids: IdKind;
  /** Where parts meet, in order: the beginning of each dated part, and the end of the last. */
  bounds: readonly Date[];
  /** Whether the table holds ids that no clock has come to yet. */
  isAhead: boolean;
};

export function boundsOf(parts: readonly Part[]): Date[] {
  const times = parts.flatMap((part) =>
    part.kind === "dated"
      ? [part.from.getTime(), part.to.getTime()]
      : part.kind === "before"
        ? [part.to.getTime()]
        : [],
  );
  return [...new Set(times)].sort((a, b) => a - b).map((time) => new Date(time));
}

/** The clocks by which ids are made agree to seconds. Beyond this there are no ids that were made just now. */
export const aheadOfClockMs = hourMs;

/**
 * How many times as many parts a stretch looks into as the one before it. With two, a list that finds nothing among a hundred parts would be asked for seven times; with eight, one
 * that finds its page in the third part would look into nine.
 */
const growth = 4;

/** The newest that a list can hold. */
function newestOf({ ids }: KnownParts, { before }: Stretch, now: Date): number {
  return (before < floorOf(ids, now) ? madeAt(before) : now).getTime();
}

/**
 * The ids of a list, cut where parts meet, the newest first: whoever reads one stretch after the other until a page is full has read a page. The first are the parts into which a page reaches, where
 * that is known. Where it is not, the part of the newest ids, with the one before it as long as less than a quarter of its time has passed: to look into one part more takes a third longer, to ask again
 * twice as long. In any case parts are left out whose time has not come.
 */
export function stretchesOf(known: KnownParts, range: Stretch, reachMs: number | null, now: Date): Stretch[] {
  const { ids } = known;
  const furthest = later(now, aheadOfClockMs);
  const end = known.isAhead ? undefined : known.bounds.find((bound) => bound >= furthest);
  const before = end === undefined ? range.before : smaller(range.before, floorOf(ids, end));
  const bounds = known.bounds.filter((bound) => floorOf(ids, bound) > range.from);
  const newest = newestOf(known, range, now);
  const hasGivenPages = (bound: Date, i: number) => {
    const next = bounds[i + 1] ?? later(bound, dayMs);
    return newest - bound.getTime() >= (next.getTime() - bound.getTime()) / 4;
  };
  const stretches: Stretch[] = [];
  let upper = before;
  let at = bounds.findLastIndex(
    reachMs === null ? hasGivenPages : (bound) => bound.getTime() < newest - reachMs,
  );
  for (let parts = growth; at >= 0; parts *= growth) {
    const from = floorOf(ids, bounds[at] ?? now);
    stretches.push({ from, before: upper });
    upper = from;
    // What would be left is not worth being asked for by itself.
    if (at < 2 * parts) break;
    at -= parts;
  }
  return [...stretches, { from: range.from, before: upper }];
}

/** Cuts the lists of the tables that are known to be kept in parts. */
export function listCutter(known: ReadonlyMap<string, KnownParts>, clock: Clock): CutList {
  return ({ table, of, range, scarce }, reaches) => {
    const parts = known.get(table);
    if (parts === undefined) return null;
    const now = clock.now();
    const list = [table, ...of].join(" ");
    const reach = reaches.of(list);
    const reachMs = scarce ? Number.POSITIVE_INFINITY : (reach?.ms ?? null);
    return {
      stretches: stretchesOf(parts, range, reachMs, now),
      wasFull: reach?.wasFull === true,
      noteLast: (last) => {
        if (scarce) return;
        const ms = newestOf(parts, range, now) - madeAt(last ?? range.from).getTime();
        reaches.note(list, { ms: Math.max(0, ms), wasFull: last !== null });
      },
    };
  };
}

export function smaller(a: string, b: string): string {
  return a < b ? a : b;
}

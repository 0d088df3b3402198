import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { dayMs, hourMs, later } from "../kernel/clock.ts";
import { floorOf, newId } from "../kernel/ids.ts";
import {
  boundAfter,
  endOfBefore,
  firstWithItsPart,
  isTooClose,
  listCutter,
  missingParts,
  type Part,
  partName,
  Reaches,
  readPart,
  rowsBelow,
  stretchesOf,
  widthFor,
} from "./parts.ts";

const at = (text: string) => new Date(`${text}Z`);
const monday = at("2026-03-02T00:00:00");

test("parts begin at midnight, on a Monday or on the first of a month", () => {
  const now = at("2026-02-28T13:30:00");
  assert.deepEqual(boundAfter(now, "day"), at("2026-03-01T00:00:00"));
  assert.deepEqual(boundAfter(now, "week"), monday);
  assert.deepEqual(boundAfter(monday, "week"), later(monday, 7 * dayMs));
  assert.deepEqual(boundAfter(now, "month"), at("2026-03-01T00:00:00"));
  assert.deepEqual(boundAfter(at("2026-12-01T00:00:00"), "month"), at("2027-01-01T00:00:00"));
  assert.equal(partName("sessions", monday), "sessions_from_20260302");
});

test("the longer something is kept, the wider its parts are, and there are never many", () => {
  assert.deepEqual([1, 14, 15, 200, 201, 3650].map(widthFor), [
    "day",
    "day",
    "week",
    "week",
    "month",
    "month",
  ]);
});

test("a part is read from its bounds, and bounds of somebody else are refused", () => {
  const [from, to] = [floorOf("vs", monday), floorOf("vs", later(monday, dayMs))];
  assert.deepEqual(readPart("p", `FOR VALUES FROM ('${from}') TO ('${to}')`), {
    kind: "dated",
    name: "p",
    from: monday,
    to: later(monday, dayMs),
  });
  assert.deepEqual(readPart("p", `FOR VALUES FROM (MINVALUE) TO ('${floorOf("uuid", monday)}')`), {
    kind: "before",
    name: "p",
    to: monday,
  });
  assert.deepEqual(readPart("p", "DEFAULT"), { kind: "rest", name: "p" });
  assert.throws(() => readPart("p", "FOR VALUES IN ('a')"), /bounds that we do not make/);
});

const parts: Part[] = [
  { kind: "before", name: "b", to: monday },
  { kind: "dated", name: "d", from: monday, to: later(monday, 7 * dayMs) },
  { kind: "rest", name: "r" },
];
const froms = (newest: Date | null, now: Date) =>
  missingParts(parts, newest, "week", now).map(({ from }) => from.toISOString().slice(0, 10));

test("parts follow one another without a gap until they reach far enough", () => {
  assert.deepEqual(froms(null, monday), ["2026-03-09"]);
  assert.deepEqual(froms(null, later(monday, 6 * dayMs)), ["2026-03-09", "2026-03-16"]);
  // Rows from before, that were put into the rest, are in nobody's way.
  assert.deepEqual(froms(later(monday, -1), monday), ["2026-03-09"]);
});

test("after a time without anybody who makes parts they go on behind what the rest holds", () => {
  const now = at("2028-05-10T12:00:00");
  assert.deepEqual(froms(null, now), ["2028-05-11", "2028-05-15"]);
  assert.deepEqual(froms(later(now, 2 * dayMs), now), ["2028-05-13", "2028-05-15"]);
});

test("rows below the first dated part go by themselves, as do all of a table that is in one piece", () => {
  const first = firstWithItsPart("vs", parts);
  assert.equal(first, floorOf("vs", monday));
  const [early, late] = [floorOf("vs", later(monday, -1)), floorOf("vs", later(monday, 1))];
  assert.equal(rowsBelow(early, first), early);
  assert.equal(rowsBelow(late, first), first);
  assert.equal(rowsBelow(late, firstWithItsPart("vs", [])), late);
});

test("a table that is being divided takes rows for a day more at least, and nobody comes near to its end", () => {
  const now = at("2026-03-02T23:59:00");
  assert.deepEqual(endOfBefore(null, now), at("2026-03-04T00:00:00"));
  assert.deepEqual(endOfBefore(later(now, 5 * dayMs), now), at("2026-03-09T00:00:00"));
  assert.equal(isTooClose(at("2026-03-04T00:00:00"), now), false);
  assert.equal(isTooClose(later(now, 12 * hourMs - 1), now), true);
});

const weeks = (count: number) => Array.from({ length: count }, (_, i) => later(monday, i * 7 * dayMs));
const table = (bounds: readonly Date[], isAhead = false) => ({ ids: "vs" as const, bounds, isAhead });
const whole = { from: "vs_", before: "vs_~" };
const floor = (time: Date) => floorOf("vs", time);

test("a list is read from the newest part that has a page to give, and then from all others", () => {
  const bounds = weeks(7);
  const [, , , fourth, fifth, sixth] = bounds;
  assert.ok(fourth && fifth && sixth);
  const inFifth = later(fifth, 5 * dayMs);
  const older = { from: "vs_", before: floor(fifth) };
  assert.deepEqual(stretchesOf(table(bounds), whole, null, inFifth), [
    { from: floor(fifth), before: floor(sixth) },
    older,
  ]);
  // While a part is new, its page is in the one before.
  assert.deepEqual(stretchesOf(table(bounds), whole, null, later(fifth, dayMs))[0], {
    from: floor(fourth),
    before: floor(sixth),
  });
  assert.deepEqual(stretchesOf(table(bounds), whole, Number.POSITIVE_INFINITY, inFifth), [
    { from: "vs_", before: floor(sixth) },
  ]);
});

test("a list is read at once from the parts that its page reached into before, however many", () => {
  const bounds = weeks(7);
  const [, , third, , fifth, sixth] = bounds;
  assert.ok(third && fifth && sixth);
  const now = later(fifth, dayMs);
  const reaches = new Reaches();
  const cut = (of: string, range = whole) =>
    listCutter(new Map([["sessions", table(bounds)]]), { now: () => now })(
      { table: "sessions", of: [of, 10], range, scarce: false },
      reaches,
    );
  const first = (of: string) => cut(of)?.stretches[0]?.from;
  cut("busy")?.noteLast(newId("vs", later(now, -hourMs)));
  assert.equal(first("busy"), floor(fifth));
  cut("quiet")?.noteLast(newId("vs", later(third, dayMs)));
  assert.equal(first("quiet"), floor(third));
  // From a moment of the past on a page reaches as far.
  const past = { ...whole, before: floor(later(fifth, -dayMs)) };
  assert.equal(cut("busy", past)?.stretches[0]?.from, floor(later(fifth, -7 * dayMs)));
  cut("short")?.noteLast(null);
  assert.deepEqual(cut("short")?.stretches, [{ from: "vs_", before: floor(sixth) }]);
  assert.deepEqual(cut("other")?.stretches, stretchesOf(table(bounds), whole, null, now));
});

test("of the lists that nobody reads any more is forgotten how far they reached", () => {
  const reaches = new Reaches(2);
  const note = (list: string, ms: number) => reaches.note(list, { ms, wasFull: true });
  note("a", 1);
  note("b", 2);
  note("a", 3);
  note("c", 4);
  assert.deepEqual(
    ["a", "b", "c"].map((list) => reaches.of(list)?.ms),
    [3, undefined, 4],
  );
});

test("nothing that is there is left out of a list: not what is made at midnight, nor what has an id from the time ahead", () => {
  const bounds = weeks(3);
  const [, second, third] = bounds;
  assert.ok(second && third);
  const top = (now: Date, isAhead = false) =>
    stretchesOf(table(bounds, isAhead), whole, null, now)[0]?.before;
  assert.equal(top(later(second, -2 * hourMs)), floor(second));
  assert.equal(top(later(second, -hourMs / 2)), floor(third));
  assert.equal(top(later(third, -hourMs / 2)), "vs_~", "no part is there for it");
  assert.equal(top(later(second, -2 * hourMs), true), "vs_~");
});

test("stretches follow each other without a gap from the last id that a list can have to the first, however many parts there are", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 120 }),
      fc.integer({ min: -50, max: 900 }),
      fc.option(fc.integer({ min: -50, max: 900 })),
      fc.option(fc.integer({ min: -50, max: 900 })),
      fc.boolean(),
      fc.option(fc.integer({ min: 0, max: 900 * dayMs })),
      (count, nowDay, fromDay, beforeDay, isAhead, reachMs) => {
        const at = (day: number) => floor(later(monday, day * dayMs + hourMs));
        const range = {
          from: fromDay === null ? whole.from : at(fromDay),
          before: beforeDay === null ? whole.before : `${at(beforeDay)}zz`,
        };
        const now = later(monday, nowDay * dayMs);
        const cut = stretchesOf(table(weeks(count), isAhead), range, reachMs, now);
        assert.ok(cut.length <= 5);
        assert.equal(cut.at(-1)?.from, range.from);
        const top = cut[0]?.before ?? "";
        assert.ok(top === range.before || (!isAhead && top < range.before && top > floor(now)));
        for (const [i, { from, before }] of cut.entries()) {
          assert.equal(cut[i + 1]?.before ?? from, from);
          if (cut.length > 1) assert.ok(from < before);
        }
      },
    ),
    { numRuns: 500 },
  );
});

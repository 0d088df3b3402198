import assert from "node:assert/strict";
import test from "node:test";
import { helperStandings } from "./helper-standing.ts";
import { readReport, type SeenHelper } from "./process-report.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 9, 0, seconds));
const free: SeenHelper = {
  role: "face",
  host: "faces:3900",
  address: "10.0.0.8:3900",
  state: "free",
  version: "1",
  startedAt: at(0).toISOString(),
  places: 2,
  working: 1,
  waiting: 0,
};
const away: SeenHelper = {
  ...free,
  state: "unreachable",
  version: null,
  startedAt: null,
  places: null,
  working: null,
  waiting: null,
};

function telling(name: string, seconds: number, helpers?: readonly SeenHelper[]) {
  const report = { problem: null, isOverloaded: false, face: null, jobs: [], ...(helpers && { helpers }) };
  return {
    name,
    role: "api" as const,
    version: "1",
    startedAt: at(0),
    seenAt: at(seconds),
    report: readReport(JSON.parse(JSON.stringify(report))),
  };
}

test("each process of another role is told of once, by the latest look of somebody who reaches it", () => {
  const processes = [
    telling("one", 10, [
      { ...free, waiting: 5 },
      { ...free, role: "chip", host: "chips:1", address: null },
    ]),
    telling("two", 12, [free]),
    telling("three", 14, [away]),
    telling("an older release", 14),
  ];
  const [chip, face, ...more] = helperStandings(processes, at(15));
  assert.equal(more.length, 0);
  assert.deepEqual([chip?.role, chip?.reachedBy, chip?.unreachableFrom], ["chip", 1, []]);
  assert.deepEqual(face, {
    ...free,
    seenBy: "two",
    seenAt: at(12),
    reachedBy: 2,
    unreachableFrom: ["three"],
  });
});

test("one that nobody reaches is told of as such, and what silent processes saw is left out", () => {
  const processes = [telling("gone", 0, [free]), telling("one", 40, [away]), telling("two", 41, [away])];
  const [face] = helperStandings(processes, at(42));
  assert.deepEqual(
    [face?.state, face?.seenBy, face?.reachedBy, face?.unreachableFrom],
    ["unreachable", "two", 0, ["one", "two"]],
  );
});

test("what a newer release sees, and this one has no word for, is left out", () => {
  const stranger = { ...free, state: "asleep" } as unknown as SeenHelper;
  assert.deepEqual(helperStandings([telling("newer", 1, [stranger])], at(2)), []);
});

import assert from "node:assert/strict";
import test from "node:test";
import { loadWords } from "../i18n/words.ts";
import { dayText, durationText, relativeTime, titleTime, zonedTime } from "./times.ts";

await loadWords("en");

const now = new Date("2026-03-10T12:00:00Z");
const relative = (at: string) => relativeTime(new Date(at), now);

test("a moment is relative to now, in the unit that fits, or null when the date says more", () => {
  assert.equal(relative("2026-03-10T11:59:40Z"), "just now");
  assert.equal(relative("2026-03-10T11:55:00Z"), "5 minutes ago");
  assert.equal(relative("2026-03-10T09:00:00Z"), "3 hours ago");
  assert.equal(relative("2026-03-09T10:00:00Z"), "yesterday");
  assert.equal(relative("2026-03-13T12:00:00Z"), "in 3 days");
  assert.equal(relative("2026-01-01T12:00:00Z"), null);
});

test("what has happened never lies ahead by a few seconds, and what is to come may", () => {
  for (const at of ["2026-03-10T12:00:00.004Z", "2026-03-10T12:00:44Z"]) {
    assert.equal(relative(at), "just now");
    assert.equal(relativeTime(new Date(at), now, true), "in a moment");
  }
  assert.equal(relative("2026-03-10T12:02:00Z"), "in 2 minutes");
});

test("a full time names its zone", () => {
  assert.match(zonedTime(now), /2026, \d\d:\d\d \S+$/);
});

test("durations are short and never have 60 seconds", () => {
  assert.deepEqual([42, 120, 119.7, 130, 7_300].map(durationText), [
    "42 s",
    "2 min",
    "2 min",
    "2 min 10 s",
    "2 h 2 min",
  ]);
});

test("a title has the year only where it is another one", () => {
  const at = new Date(2026, 2, 1, 9, 30);
  assert.equal(titleTime(at, new Date(2026, 11, 31)), "1 Mar, 09:30");
  assert.equal(titleTime(at, new Date(2027, 0, 1)), "1 Mar 2026, 09:30");
});

test("a time is written in the language of the page", async () => {
  const at = new Date(2026, 2, 1, 9, 30);
  await loadWords("de");
  assert.equal(dayText(at), "1. März 2026");
  assert.equal(relative("2026-03-10T09:00:00Z"), "vor 3 Stunden");
  assert.equal(relative("2026-03-09T10:00:00Z"), "gestern");
  await loadWords("fr");
  assert.equal(dayText(at), "1 mars 2026");
  assert.equal(relative("2026-03-10T09:00:00Z"), "il y a 3 heures");
  await loadWords("en");
});

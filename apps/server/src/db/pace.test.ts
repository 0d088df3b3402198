import assert from "node:assert/strict";
import test from "node:test";
import { Pace } from "./pace.ts";

/** Notes so many that take this long, one after another, and returns when the last has ended. */
function noteMany(pace: Pace, from: number, count: number, tookMs: number): number {
  let at = from;
  for (let i = 0; i < count; i++) {
    pace.note(at, at + tookMs);
    at += tookMs;
  }
  return at;
}

test("nothing is slow before it was ever done, nor the first time", () => {
  const pace = new Pace();
  assert.equal(pace.slowness, 1);
  pace.note(0, 50);
  assert.equal(pace.slowness, 1);
});

test("what takes ten times as long for a while is slow, and a single pause is not", () => {
  const pace = new Pace();
  const at = noteMany(pace, 0, 20, 1);
  pace.note(at, at + 20);
  assert.ok(pace.slowness < 3);
  noteMany(pace, at + 20, 30, 10);
  assert.ok(pace.slowness > 9);
});

test("it is over when it is quick again", () => {
  const pace = new Pace();
  const at = noteMany(pace, noteMany(pace, 0, 20, 1), 50, 10);
  noteMany(pace, at, 50, 1);
  assert.ok(pace.slowness < 1.5);
});

test("what stays slower for minutes is what is normal now: a database that is farther away", () => {
  const pace = new Pace();
  const at = noteMany(pace, 0, 20, 1);
  noteMany(pace, at, 180_000 / 10, 10);
  assert.equal(pace.slowness, 1);
});

test("what was quick a minute ago is not forgotten after a pause without any", () => {
  const pace = new Pace();
  noteMany(pace, 0, 20, 1);
  noteMany(pace, 90_000, 50, 10);
  assert.ok(pace.slowness > 9);
});

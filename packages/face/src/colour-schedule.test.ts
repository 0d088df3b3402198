import assert from "node:assert/strict";
import test from "node:test";
import { colourAt, msToNextColour } from "./colour-schedule.ts";

const schedule = { colours: ["red", "blue", "white"], colourMs: 900 } as const;

test("each colour stays for its time, and the sequence begins again after the last", () => {
  const seen = [0, 899, 900, 1_799, 1_800, 2_699, 2_700, 3_600].map((atMs) => colourAt(schedule, atMs));
  assert.deepEqual(seen, ["red", "red", "blue", "blue", "white", "white", "red", "blue"]);
});

test("the moment of the next colour is exact, also when the page looked late", () => {
  for (const atMs of [0, 1, 450, 899, 900, 901, 12_345]) {
    const leftMs = msToNextColour(schedule, atMs);
    assert.ok(leftMs > 0 && leftMs <= 900);
    assert.equal((atMs + leftMs) % 900, 0);
  }
});

test("without colours the screen is white", () => {
  assert.equal(colourAt({ colours: [], colourMs: 900 }, 5_000), "white");
});

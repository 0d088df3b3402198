import assert from "node:assert/strict";
import test from "node:test";
import type { Quad } from "@assay/mrz-reader/geometry";
import type { Hint } from "@assay/mrz-reader/hint";
import { type HintState, initialHint, nextHint, type ShownHint } from "./shown-hint.ts";

const corner = { x: 0, y: 0 };
const quad: Quad = [corner, corner, corner, corner];
const unclear = { kind: "unclear" } as const;

/** The hint shown after each look, a fifth of a second apart. */
function shownAfter(...looks: Parameters<typeof nextHint>[1][]): ShownHint[] {
  let hints: HintState = initialHint;
  return looks.map((look, index) => {
    hints = nextHint(hints, look, index * 200);
    return hints.shown;
  });
}
const seen = (hint: Hint) => ({ hint, quad, reading: unclear });
const nothing = { hint: "show_lines", quad: null, reading: unclear } as const;

test("one hint at a time: another is shown when three looks in a row say it", () => {
  const said = shownAfter(
    seen("closer"),
    seen("flatter"),
    seen("closer"),
    seen("flatter"),
    seen("flatter"),
    seen("flatter"),
  );
  assert.deepEqual(said, ["closer", "closer", "closer", "closer", "closer", "flatter"]);
});

test("a visa is reported after three looks that say so, and no longer when a key is read", () => {
  const visa = { ...seen("hold_still"), reading: { kind: "visa" } as const };
  const fields = { documentNumber: "C01X00T47", dateOfBirth: "640812", dateOfExpiry: "271031" };
  const key = { kind: "key", fields } as const;
  assert.deepEqual(
    shownAfter(visa, seen("closer"), visa, visa, { ...seen("hold_still"), reading: key }).slice(2),
    ["hold_still", "visa", "hold_still"],
  );
});

test("without lines the page advises after eight seconds to type instead, and stops as soon as it sees lines", () => {
  const looks = shownAfter(...Array<typeof nothing>(41).fill(nothing), ...Array(3).fill(seen("closer")));
  assert.deepEqual(looks.slice(39, 41), ["show_lines", "no_lines"]);
  assert.equal(looks.at(-1), "closer");
  // In the dark the light comes first.
  assert.equal(shownAfter(...Array(60).fill({ ...nothing, hint: "more_light" })).at(-1), "more_light");
});

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { brandOnPage } from "./brand.ts";
import { contrast, type Hex, readableRatio, visibleRatio } from "./colours.ts";
import { colours, grounds, readableOn } from "./tokens.ts";

const schemes = ["light", "dark"] as const;

/** Contrast faults of this brand. */
function faultsOf(brand: Hex): string[] {
  return schemes.flatMap((scheme) => {
    const { fill, onFill, edge, accent } = brandOnPage(brand, scheme);
    const pairs: [string, Hex, Hex, number][] = [
      ["text on the button", onFill, fill, readableRatio],
      ...grounds.flatMap((ground): [string, Hex, Hex, number][] => [
        [`text on ${ground}`, accent, colours[ground][scheme], readableRatio],
        [`edge on ${ground}`, edge, colours[ground][scheme], visibleRatio],
      ]),
    ];
    return pairs
      .filter(([, one, other, ratio]) => contrast(one, other) < ratio)
      .map(([what, one, other]) => `${brand} ${scheme}: ${what}, ${one} on ${other}`);
  });
}

const hexOf = (value: number): Hex => `#${value.toString(16).padStart(6, "0")}`;

test("whatever colour a partner chooses, every text in it can be read and every button be seen", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (value) => {
      assert.deepEqual(faultsOf(hexOf(value)), []);
    }),
    { numRuns: 1_000 },
  );
  // Every thirty-second step of each channel and its ends, so that no corner depends on chance.
  const steps = [...Array.from({ length: 8 }, (_, step) => step * 32), 255];
  for (const red of steps)
    for (const green of steps)
      for (const blue of steps) assert.deepEqual(faultsOf(hexOf(red * 65_536 + green * 256 + blue)), []);
});

test("a button of yellow has black text, one of navy white text, and neither colour is changed on a light page", () => {
  assert.deepEqual(
    (["#ffee00", "#0a2540"] as const).map((brand) => {
      const { fill, onFill } = brandOnPage(brand, "light");
      return [fill, onFill];
    }),
    [
      ["#ffee00", "#000000"],
      ["#0a2540", "#ffffff"],
    ],
  );
});

for (const scheme of schemes)
  test(`every text of the ${scheme} colours can be read on every ground that it stands on, and edges be seen`, () => {
    const poor = readableOn.flatMap(([text, on]) =>
      on.flatMap((ground) => {
        const ratio = contrast(colours[text][scheme], colours[ground][scheme]);
        return ratio < readableRatio ? [`${text} on ${ground}: ${ratio.toFixed(2)}`] : [];
      }),
    );
    for (const ground of ["paper", "card"] as const)
      if (contrast(colours.field[scheme], colours[ground][scheme]) < visibleRatio)
        poor.push(`field on ${ground}`);
    assert.deepEqual(poor, []);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { alice } from "../test/performed-movements.ts";
import { attackLimits, judgeAttacks, measureAttacks } from "./attack-signals.ts";
import type { ColourFinding } from "./colour-signal.ts";
import { highlightDrift } from "./fixed-highlights.ts";
import { planeResidual } from "./flat-thing.ts";
import type { FaceMeasurement, FrameMeasurement } from "./measurement.ts";
import { patternOf, patternPixels } from "./screen-pattern.ts";

const calm: FaceMeasurement = {
  box: { x: 0, y: 0, width: 100, height: 100 },
  yaw: 0,
  pitch: 0,
  roll: 0,
  size: 100,
  eyes: 0.3,
  mouth: 0.05,
  faceLight: [0.4, 0.3, 0.25],
  surroundingLight: null,
  embedding: alice,
};
const film = (faces: readonly Partial<FaceMeasurement>[]): FrameMeasurement[] =>
  faces.map((face, index) => {
    const atMs = index * 200;
    return { atMs, receivedAtMs: atMs, faces: 1, width: 640, height: 480, face: { ...calm, ...face } };
  });

/** Points of a head, in parts of its height: across, down, and towards the camera. */
const head = Array.from({ length: 20 }, (_, index) => {
  const [across, down] = [Math.cos(index * 2.4) * 0.4, Math.sin(index * 1.7) * 0.5];
  return [across, down, 0.5 * (1 - 4 * across * across)] as const;
});
const seenFrom = (distance: number, depth: number): Partial<FaceMeasurement> => {
  const shape = head.map(([x, y, z]): readonly [number, number] => [
    300 + (400 * x) / (distance - depth * z),
    200 + (400 * y) / (distance - depth * z),
  ]);
  return { shape, size: 400 / distance };
};
const closer = (depth: number, distances: readonly number[]) =>
  film(distances.map((distance) => seenFrom(distance, depth)));

test("a head that comes closer changes its perspective, a flat thing does not", () => {
  const distances = [4, 4, 4, 4, 3.2, 2.6, 2.6, 4];
  const [flat, round] = [planeResidual(closer(0, distances)), planeResidual(closer(1, distances))];
  assert.ok(flat !== null && flat < 0.001, `${flat}`);
  assert.ok(round !== null && round > attackLimits.flat_thing.limit, `${round}`);
  // Looks from farther away than the straight ones are left out, however many there are.
  const farther = [5.2, 5.2, 5.2, 5.2, 5.2, 5.2, 5.2, 5.2];
  assert.equal(planeResidual(closer(1, [...distances, ...farther])), round);
  assert.equal(planeResidual(closer(1, [4, 4, 4, 3.8, 3.9])), null, "nobody came closer");
  assert.equal(planeResidual(film([{}, {}, {}, { size: 130 }, { size: 130 }])), null, "no points");
});

test("waves of a screen stand out, noise and slow shades do not", () => {
  let state = 9;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296 - 0.5;
  };
  const square = (wave: (x: number, y: number) => number) =>
    Float64Array.from({ length: patternPixels ** 2 }, (_, at) => {
      const [x, y] = [at % patternPixels, Math.floor(at / patternPixels)];
      return 120 + 40 * Math.sin(x / 30) + random() * 8 + wave(x, y);
    });
  const [plain, striped, banded] = [
    patternOf(square(() => 0)),
    patternOf(square((x, y) => 3 * Math.sin((2 * Math.PI * (11 * x + 9 * y)) / patternPixels))),
    patternOf(square((_, y) => 3 * Math.sin((2 * Math.PI * 10 * y) / patternPixels))),
  ];
  assert.ok(plain < attackLimits.screen_pattern.limit, `${plain}`);
  for (const screen of [striped, banded]) assert.ok(screen > attackLimits.screen_pattern.limit, `${screen}`);
});

test("light wanders over a head that turns, and turns with a mask", () => {
  const turns = [0, 10, 20, 27, 20, 0, -10, -20, -27, 0];
  const drift = (perDegree: number) =>
    highlightDrift(film(turns.map((yaw) => ({ yaw, highlight: -perDegree * yaw }))));
  assert.ok(Math.abs((drift(0.008) ?? 0) - 8) < 1e-9);
  assert.equal(Math.abs(drift(0) ?? 1), 0);
  assert.equal(highlightDrift(film([0, 10, 20].map((yaw) => ({ yaw, highlight: 0 })))), null);
  assert.equal(highlightDrift(film(turns.map((yaw) => ({ yaw })))), null);
});

const colours: ColourFinding = {
  outcome: "followed",
  correlation: 0.9,
  reflection: 0.05,
  surroundingShare: 0.3,
  lagMs: 100,
};

test("a sign is raised beyond its limit, and never by what could not be measured", () => {
  const nothing = film([{}, {}, {}]);
  assert.deepEqual(judgeAttacks(nothing, colours), []);
  assert.deepEqual(judgeAttacks(nothing, { ...colours, lagMs: 500 }), ["colours_late"]);
  assert.deepEqual(judgeAttacks(nothing, { ...colours, surroundingShare: 1 }), ["colours_everywhere"]);
  const unmeasurable = { ...colours, outcome: "unmeasurable", lagMs: 500, surroundingShare: 1 } as const;
  assert.deepEqual(measureAttacks(nothing, unmeasurable), {
    flat_thing: null,
    screen_pattern: null,
    colours_late: null,
    colours_everywhere: null,
    highlights_fixed: null,
  });
  assert.deepEqual(judgeAttacks(film([{ pattern: Number.NaN }]), { ...colours, lagMs: Number.NaN }), []);
  const flat = closer(0, [4, 4, 4, 4, 2.9, 2.9]);
  assert.deepEqual(judgeAttacks(flat, colours), ["flat_thing"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { facePixels, surroundingsPixels } from "./face-square.ts";
import { surroundingsShare } from "./still-surroundings.ts";

/** Texture that differs everywhere and is reproducible; from 20 to 230. */
const texture = (x: number, y: number) => 125 + 105 * Math.sin(x * x * 12.9898 + y * 78.233 + x * y * 3.7);

/** A square in which the face and its surroundings have moved by these pixels. */
function square(
  face: number,
  around: number,
  { gain = 1, offset = 0, shake = 0, shakeDown = 0 } = {},
): Float64Array {
  const middle = surroundingsPixels / 2;
  return Float64Array.from({ length: surroundingsPixels ** 2 }, (_, at) => {
    const [x, y] = [(at % surroundingsPixels) - shake, Math.floor(at / surroundingsPixels) - shakeDown];
    // The middle of the face is below that of the square.
    const inFace = ((x - middle) / 15) ** 2 + ((y - middle - 5) / 18) ** 2 < 1;
    return gain * texture(x - (inFace ? face : around), y) + offset;
  });
}
const straight = square(0, 0);

test("the share is the one by which the limit was chosen", () => {
  const share = surroundingsShare(straight, square(3, 7, { gain: 0.9, shake: 2, shakeDown: -1 }));
  assert.ok(share !== null && Math.abs(share - 1.014783551683975) < 1e-12, `${share}`);
});

test("surroundings that stay while the face turns are told from those that turn with it", () => {
  const bent = surroundingsShare(straight, square(3, 0));
  const head = surroundingsShare(straight, square(3, 7));
  assert.ok(bent !== null && bent < 0.01, `${bent}`);
  assert.ok(head !== null && head > 0.5 && head < 1.5, `${head}`);
});

test("surroundings that stay are seen whatever the light is and however the camera trembles", () => {
  for (const how of [
    { gain: 1.25 },
    { gain: 0.8 },
    { offset: 20 },
    { shake: 5 },
    { shake: -5 },
    { shakeDown: 5 },
    { shakeDown: -5 },
  ]) {
    const share = surroundingsShare(straight, square(3, 0, how));
    assert.ok(share !== null && share < 0.05, `${JSON.stringify(how)}: ${share}`);
  }
  // Further than a hand trembles, everything has moved.
  const far = surroundingsShare(straight, square(3, 0, { shake: 9 }));
  assert.ok(far !== null && far > 0.3, `${far}`);
});

test("a tremble by parts of a pixel is no change, and the contrast of what stays does not make it one", () => {
  const soft = (x: number, y: number) => 100 * Math.sin(x / 4 + Math.sin(y / 6));
  const looks = (face: number, around: number, [right, down]: readonly [number, number]) =>
    Float64Array.from({ length: surroundingsPixels ** 2 }, (_, at) => {
      const [x, y] = [(at % surroundingsPixels) - right, Math.floor(at / surroundingsPixels) - down];
      const inFace = ((x - 32) / 15) ** 2 + ((y - 37) / 18) ** 2 < 1;
      // A face of little contrast, as in bright light.
      return 125 + (inFace ? soft(x - face, y) / 10 : soft(x - around, y));
    });
  const still = looks(0, 0, [0, 0]);
  for (const shake of [
    [0.25, 0.25],
    [-0.75, -0.75],
    [2.5, 2.5],
    [0.5, 0],
    [0, 0.5],
    [-1.25, 3],
    [2, -0.75],
  ] as const) {
    const bent = surroundingsShare(still, looks(3, 0, shake));
    assert.ok(bent !== null && bent < 0.04, `${shake}: ${bent}`);
    const head = surroundingsShare(still, looks(3, 8, shake));
    assert.ok(head !== null && head > 0.5, `${shake}: ${head}`);
  }
});

test("shoulders that move do not count as surroundings of the face", () => {
  const shrugged = square(3, 0).map((light, at) => (at > 55 * surroundingsPixels ? 250 - light : light));
  const share = surroundingsShare(straight, shrugged);
  assert.ok(share !== null && share < 0.01, `${share}`);
});

test("surroundings that are hardly in the picture are not measured, and neither is a face that did not change", () => {
  const cut = (share: number) =>
    square(3, 0).map((light, at) =>
      at % surroundingsPixels < share * surroundingsPixels ? Number.NaN : light,
    );
  assert.equal(surroundingsShare(straight, cut(0.62)), null);
  assert.ok((surroundingsShare(straight, cut(0.2)) ?? 1) < 0.05);
  assert.equal(surroundingsShare(straight, straight), null);
  // Also where only some movements of the camera leave enough of them in the picture.
  for (let share = 0.3; share < 0.62; share += 0.02) {
    const left = surroundingsShare(
      straight,
      square(3, 7).map((light, at) =>
        at % surroundingsPixels < share * surroundingsPixels ? Number.NaN : light,
      ),
    );
    assert.ok(left === null || left > 0.2, `${share}: ${left}`);
  }
  assert.equal(surroundingsShare(new Float64Array(surroundingsPixels ** 2).fill(Number.NaN), straight), null);
});

test("surroundings without any texture have changed, and a face that cannot be seen is not measured", () => {
  const middle = surroundingsPixels / 2;
  const inFace = (at: number) =>
    ((at % surroundingsPixels) - middle) ** 2 / 15 ** 2 +
      (Math.floor(at / surroundingsPixels) - middle - 5) ** 2 / 18 ** 2 <
    1;
  // Whole numbers, whose sums are exact: the surroundings vary by nothing at all.
  const blank = surroundingsShare(
    straight.map(Math.round),
    square(3, 0).map((light, at) => (inFace(at) ? light : 125)),
  );
  assert.ok(blank !== null && blank > 0.5, `${blank}`);
  const hidden = square(3, 0).map((light, at) => (inFace(at) ? Number.NaN : light));
  assert.equal(surroundingsShare(straight, hidden), null);
  // Half of it is enough.
  const without = (count: number) => {
    const unseen = new Set(facePixels.slice(0, count));
    return surroundingsShare(
      straight,
      square(3, 0).map((light, at) => (unseen.has(at) ? Number.NaN : light)),
    );
  };
  assert.notEqual(without(facePixels.length / 2), null);
  assert.equal(without(facePixels.length / 2 + 1), null);
});

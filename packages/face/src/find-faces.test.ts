import assert from "node:assert/strict";
import test from "node:test";
import { decodeFaces, withoutBackground } from "./find-faces.ts";

const cells = 7;
const [anchors, valuesPerAnchor] = [5, 5];

/** The detector's output for faces in these cells only; the first anchor is 1.6 by 2.1 cells. */
function answer(seen: readonly { column: number; row: number; sure: number; down?: number }[]): Float32Array {
  const values = new Float32Array(cells * cells * anchors * valuesPerAnchor);
  for (let at = 4; at < values.length; at += valuesPerAnchor) values[at] = -20;
  for (const { column, row, sure, down = 0 } of seen)
    values.set([0, down, 0, 0, sure], (row * cells + column) * anchors * valuesPerAnchor);
  return values;
}

test("a face is found where the detector sees it, in pixels of the picture", () => {
  const [face, ...others] = decodeFaces(answer([{ column: 3, row: 2, sure: 4 }]), 700);
  assert.deepEqual(others, []);
  assert.ok(face !== undefined);
  assert.equal(Math.round(face.x + face.width / 2), 350);
  assert.equal(Math.round(face.y + face.height / 2), 250);
  assert.equal(Math.round(face.width), 160);
  assert.equal(Math.round(face.height), 209);
});

test("what is unlikely to be a face is none, and one face seen from two cells is one", () => {
  assert.deepEqual(decodeFaces(answer([{ column: 3, row: 3, sure: -1 }]), 700), []);
  const found = decodeFaces(
    answer([
      { column: 3, row: 3, sure: 1, down: 1 },
      { column: 3, row: 4, sure: 3, down: -1 },
      { column: 6, row: 6, sure: 2 },
    ]),
    700,
  );
  assert.deepEqual(
    found.map(({ y, height }) => Math.round(y + height / 2)),
    [427, 650],
    "the surer of the two that overlap",
  );
});

test("the largest face comes first, and a face in the background does not count", () => {
  const box = (width: number) => ({ x: 0, y: 0, width, height: width });
  assert.deepEqual(withoutBackground([box(39), box(40), box(100)]), [box(100), box(40)]);
  assert.deepEqual(withoutBackground([]), []);
});

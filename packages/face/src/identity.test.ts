import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeIdentity, picksForEmbedding } from "./identity.ts";
import type { FaceMeasurement, FrameMeasurement } from "./measurement.ts";

type Look = Partial<FaceMeasurement> | null;

/** One look every 200 ms, straight ahead unless it says otherwise; null without a face. */
function framesOf(looks: readonly Look[]): FrameMeasurement[] {
  const straight: FaceMeasurement = {
    ...{ yaw: 2, pitch: -3, roll: 0, size: 180, eyes: 0.3, mouth: 0.05 },
    ...{ box: { x: 0, y: 0, width: 180, height: 180 }, faceLight: [0, 0, 0], surroundingLight: null },
  };
  return looks.map((look, index) => ({
    ...{ atMs: index * 200, receivedAtMs: index * 200, faces: 1, width: 640, height: 480 },
    face: look === null ? null : { ...straight, ...look },
  }));
}
const turned = (degrees: number): Look => ({ yaw: 2 + degrees });
const raised = (degrees: number): Look => ({ pitch: -3 + degrees });

test("the straightest look of each quarter serves the match, and none where the head is turned, the eyes are closed or the mouth is open", () => {
  const looks: Look[] = [
    ...[turned(0), turned(0), turned(0)],
    ...[turned(20), turned(9), turned(-10)],
    ...[raised(8), { eyes: 0.1 }, raised(-4)],
    ...[raised(9.5), { mouth: 0.6 }, raised(-10)],
  ];
  assert.deepEqual(picksForEmbedding(framesOf(looks)).frontal, [0, 4, 8]);
  // Frames without a face count in no quarter.
  assert.deepEqual(picksForEmbedding(framesOf([null, null, ...looks, null])).frontal, [2, 6, 10]);
});

test("the looks furthest to both sides, up and to the camera are picked once each, and no straight one again", () => {
  const looks: Look[] = [
    ...[turned(0), turned(0), turned(0), turned(0)],
    ...[turned(25), turned(26), turned(-26), turned(-25)],
    ...[raised(17), raised(18), { yaw: 14, size: 260 }, { yaw: 14, size: 250 }],
    ...[turned(0), turned(0), turned(0), turned(0)],
  ];
  assert.deepEqual(picksForEmbedding(framesOf(looks)), { frontal: [0, 12], turned: [5, 6, 9, 10] });
  const both: Look = { yaw: 30, pitch: 20, size: 260 };
  const oneTurn = picksForEmbedding(framesOf([{}, {}, {}, {}, {}, {}, both, {}]));
  assert.deepEqual(oneTurn, { frontal: [0, 2, 4, 7], turned: [6] });
  assert.deepEqual(picksForEmbedding(framesOf([{}, {}, {}, {}, {}, {}, {}, {}])), {
    frontal: [0, 2, 4, 6],
    turned: [],
  });
});

test("nothing is picked before it is known where straight ahead is", () => {
  assert.deepEqual(picksForEmbedding([]), { frontal: [], turned: [] });
  assert.deepEqual(picksForEmbedding(framesOf([{}, null, {}])), { frontal: [], turned: [] });
  assert.deepEqual(picksForEmbedding(framesOf([{}, {}, {}])).frontal, [0, 1, 2]);
});

const limits = { samePersonFrontal: 0.5, samePersonTurned: 0.75 };
/** Straight looks with these embeddings of one number, and after them turned ones. */
function identityOf(straight: readonly (number | null)[], away: readonly number[] = []) {
  const frontal: Look[] = straight.map((at) => (at === null ? {} : { embedding: [at] }));
  const sides = away.map((at, index): Look => ({ yaw: index === 0 ? 27 : -27, embedding: [at] }));
  return judgeIdentity(framesOf([...frontal, ...sides, null]), limits);
}

test("one person is seen if no two straight looks are further apart than the limit, whatever their order", () => {
  assert.deepEqual(identityOf([0, 0.25, 0.5, 0]), {
    ...{ same: true, spread: 0.5 },
    frontal: [[0], [0.25], [0.5], [0]],
  });
  assert.equal(identityOf([0, 0.25, 0.5625, 0.25]).same, false);
  assert.equal(identityOf([0.25, 0, 0.25, 0.5625]).spread, 0.5625);
  assert.equal(identityOf([0.5625, 0.25, 0.25, 0]).same, false);
});

test("another person in any turned look is noticed, by the median distance from the straight looks", () => {
  // Of five looks with a face, each of the first three quarters holds one straight look.
  assert.equal(identityOf([0, 0.25, 0.5], [0.75, 1]).same, true);
  assert.equal(identityOf([0, 0.25, 0.5], [0.75, 1.0625]).same, false);
  assert.equal(identityOf([0, 0.25, 0.5], [1.0625, 0.75]).same, false);
});

test("a person is compared only where two straight looks have embeddings", () => {
  assert.deepEqual(identityOf([0.25, null, null, null]), { same: false, spread: 0, frontal: [[0.25]] });
  assert.equal(identityOf([0.25, 0.25, null, null]).same, true);
  assert.equal(judgeIdentity([], limits).same, false);
});

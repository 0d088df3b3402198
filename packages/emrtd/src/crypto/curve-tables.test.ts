import assert from "node:assert/strict";
import { test } from "node:test";
import { NAMED_CURVES } from "./ec-curves.ts";
import { CURVES } from "./named-curve.ts";

test("the curves of signatures and the curves of key agreement are the same curves", () => {
  for (const { oid, points } of NAMED_CURVES) {
    const curve = CURVES.find((candidate) => candidate.oid === oid);
    assert.ok(curve, oid);
    const { p, a, b, Gx, Gy, n, h } = points.CURVE();
    assert.deepEqual([p, a, b, Gx, Gy, n, h], [curve.p, curve.a, curve.b, curve.gx, curve.gy, curve.n, 1n]);
  }
});

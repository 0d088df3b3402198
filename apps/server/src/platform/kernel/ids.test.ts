import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { idFloor, madeAt, newId, newUuid, randomText } from "./ids.ts";

const moments = fc.date({ min: new Date("1970-01-01"), max: new Date("2200-01-01"), noInvalidDate: true });

test("ids have the published form", () => {
  const now = new Date();
  assert.match(newId("vs", now), /^vs_[A-Za-z0-9]{64}$/);
  assert.match(newId("whe", now), /^whe_[A-Za-z0-9]{32}$/);
  assert.match(newUuid(now), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("ids and uuids sort by their creation time, and idFloor bounds them", () => {
  fc.assert(
    fc.property(moments, moments, (a, b) => {
      if (a.getTime() === b.getTime()) return;
      const [earlier, later] = a < b ? [a, b] : [b, a];
      assert.ok(newId("vs", earlier) < newId("vs", later));
      assert.ok(newUuid(earlier) < newUuid(later));
      assert.ok(newId("vs", earlier) < idFloor("vs", later));
      assert.ok(newId("vs", later) >= idFloor("vs", later));
    }),
  );
});

test("when an id or a bound was made can be read from it", () => {
  fc.assert(
    fc.property(moments, (at) => {
      for (const id of [newId("vs", at), idFloor("whd", at)])
        assert.equal(madeAt(id).getTime(), at.getTime());
    }),
  );
});

test("ids made in the same millisecond sort in the order in which they were made", () => {
  const now = new Date("2026-03-01T09:30:00.000Z");
  const ids = Array.from({ length: 2000 }, () => newId("whe", now));
  assert.deepEqual([...ids].sort(), ids);
  const uuids = Array.from({ length: 1000 }, () => newUuid(now));
  assert.deepEqual([...uuids].sort(), uuids);
  assert.equal(new Set(Array.from({ length: 10_000 }, () => newUuid(now))).size, 10_000);
});

test("random text uses every character about equally often", () => {
  const counts = new Map<string, number>();
  for (const character of randomText(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
  assert.equal(counts.size, 62);
  for (const count of counts.values()) assert.ok(count > 800 && count < 1200);
});

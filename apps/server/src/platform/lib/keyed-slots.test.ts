import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { KeyedSlots } from "./keyed-slots.ts";

test("no key ever has more places than the limit, and nothing is left of those that were given back, once or twice", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ key: fc.nat(3), gives: fc.boolean() }), { maxLength: 60 }),
      (most, moves) => {
        const places = new KeyedSlots<number>(most);
        const held = new Map<number, (() => void)[]>();
        for (const { key, gives } of moves) {
          const own = held.get(key) ?? [];
          held.set(key, own);
          if (gives) {
            const giveBack = own.pop();
            giveBack?.();
            giveBack?.();
          } else {
            const place = places.take(key);
            assert.equal(place === null, own.length === most);
            if (place !== null) own.push(place);
          }
          assert.equal(places.isFull(key), own.length === most);
        }
        for (const own of held.values()) for (const giveBack of own) giveBack();
        assert.equal(places.keys, 0);
      },
    ),
  );
});

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import type { LoadedKey } from "../lib/key-ring.ts";
import {
  admitKeys,
  goneAfterMs,
  isLive,
  type KnownKey,
  markOf,
  mismatches,
  type RingProcess,
  sealingElsewhere,
  sealingKey,
  withoutKey,
} from "./ring-state.ts";

const now = new Date("2026-03-01T09:30:00.000Z");
const key = (id: string, fingerprint = `of ${id}`): LoadedKey => ({ id, fingerprint });
const inUse = (id: string, generation: number): KnownKey => ({ ...key(id), state: "in_use", generation });
const holding = (id: string, loaded: readonly LoadedKey[], sealsWith = "1"): RingProcess => ({
  id,
  name: id,
  loaded: loaded.map(markOf),
  sealsWith,
  seenAt: now,
});
const [one, two, three] = [key("1"), key("2"), key("3")];

test("the first ring is taken as it is, and its first key seals", () => {
  const known = admitKeys([], [two, one], []);
  assert.deepEqual(known, [inUse("2", 2), inUse("1", 1)]);
  assert.equal(sealingKey(known)?.id, "2");
});

test("a new first key waits for the last living process that lacks it", () => {
  const waiting = admitKeys([inUse("1", 1)], [two, one], [holding("old", [one])]);
  assert.equal(sealingKey(waiting)?.id, "1");
  const agreed = admitKeys(waiting, [two, one], [holding("new", [two, one])]);
  assert.equal(sealingKey(agreed)?.id, "2");
  assert.deepEqual(mismatches([one], agreed), [
    'The key ring has no key "2", and data in the database needs it.',
  ]);
});

test("a key at the end of the ring is only introduced, however many have it", () => {
  const known = admitKeys([inUse("1", 1)], [one, two], [holding("other", [one, two])]);
  assert.equal(known.find(({ id }) => id === "2")?.state, "introduced");
});

test("a mistyped new key gives way once nobody holds it; before that the second one is refused", () => {
  const typo = key("2", "typo");
  const known = admitKeys([inUse("1", 1)], [one, typo], []);
  const held = admitKeys(known, [one, two], [holding("other", [one, typo])]);
  assert.match(mismatches([one, two], held).join(), /Key "2" of the ring differs from the key/);
  const given = admitKeys(known, [one, two], [holding("other", [one])]);
  assert.deepEqual(mismatches([one, two], given), []);
});

test("a retired key may stay in a ring or go from it, and no other key may take its id", () => {
  const known: KnownKey[] = [inUse("2", 2), { ...one, state: "retired", generation: 1 }];
  assert.deepEqual(mismatches([two], known), []);
  assert.deepEqual(mismatches([two, one], known), []);
  assert.equal(mismatches([two, key("1", "new")], known).length, 1);
  assert.equal(sealingKey(admitKeys(known, [one, two], []))?.id, "2", "it does not come back into use");
});

test("a key that seals no more is needed until nothing depends on it", () => {
  const known: KnownKey[] = [inUse("2", 2), { ...one, state: "retiring", generation: 1 }];
  assert.deepEqual(mismatches([two, one], known), []);
  assert.deepEqual(mismatches([two], known), [
    'The key ring has no key "1", and data in the database needs it.',
  ]);
});

test("a ring that does not fit makes nothing known of what else is in it", () => {
  const known = [inUse("1", 1)];
  assert.deepEqual(admitKeys(known, [three, two], []), known);
  assert.deepEqual(admitKeys(known, [three, key("1", "another")], []), known);
});

test("a process counts until it has been silent for the limit", () => {
  const process = holding("a", [one]);
  assert.ok(isLive(process, new Date(now.getTime() + goneAfterMs - 1)));
  assert.ok(!isLive(process, new Date(now.getTime() + goneAfterMs)));
});

test("only a new key gives way to another secret, and only where no process holds it", () => {
  const other = key("1", "other");
  assert.equal(admitKeys([inUse("1", 1)], [other], [])[0]?.fingerprint, one.fingerprint, "not one in use");
  const known: KnownKey[] = [inUse("1", 1), { ...two, state: "introduced", generation: null }];
  const typed = key("2", "typed again");
  const after = admitKeys(known, [typed, one], [holding("a", [one]), holding("b", [one])]);
  assert.deepEqual(after, [inUse("1", 1), { ...typed, state: "introduced", generation: null }]);
  assert.deepEqual(admitKeys(known, [typed, one], [holding("a", [one]), holding("b", [one, two])]), known);
});

test("a key that comes into use is of a later generation than every other", () => {
  const known: KnownKey[] = [inUse("2", 7), { ...one, state: "retired", generation: 9 }];
  const next = admitKeys(known, [three, two], []);
  assert.deepEqual(next.at(-1), inUse("3", 10));
  assert.equal(sealingKey(next)?.id, "3");
  assert.equal(sealingKey([inUse("1", 1), inUse("2", 2), inUse("3", 0)])?.id, "2");
  assert.equal(sealingKey([{ ...one, state: "retiring", generation: 1 }]), null);
});

test("a process seals elsewhere, or lacks a key, by what it reported", () => {
  const [a, b] = [holding("a", [one, two], "2"), holding("b", [one], "1")];
  assert.deepEqual(sealingElsewhere("2", [a, b]), [b]);
  assert.deepEqual(withoutKey(two, [a, b]), [b]);
  assert.deepEqual(withoutKey(key("1", "other"), [a, b]), [a, b]);
});

/** Starts with some ring, stops, refreshes, or retires old keys: whatever operators may do, in any order. */
const ringChoice = fc.uniqueArray(fc.constantFrom(one, two, three, key("2", "typo")), {
  minLength: 1,
  selector: ({ id }) => id,
});
const step = fc.oneof(
  fc.record({ kind: fc.constant("start" as const), ring: ringChoice }),
  fc.record({ kind: fc.constant("stop" as const), which: fc.nat(5) }),
  fc.record({ kind: fc.constant("look" as const), which: fc.nat(5) }),
  fc.record({ kind: fc.constant("retire" as const) }),
);

test("in whatever order processes start, stop and look, each living one can read whatever any other may seal", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let known: KnownKey[] = [];
      let living: { ring: readonly LoadedKey[]; process: RingProcess }[] = [];
      const stored = new Set<string>();
      const bring = (ring: readonly LoadedKey[], others: readonly RingProcess[]) => {
        const next = admitKeys(known, ring, others);
        if (mismatches(ring, next).length > 0) return false;
        known = next;
        return true;
      };
      steps.forEach((action, place) => {
        const member = "which" in action ? living[action.which % (living.length || 1)] : undefined;
        if (action.kind === "start") {
          const accepted = bring(
            action.ring,
            living.map(({ process }) => process),
          );
          if (accepted) {
            const process = holding(String(place), action.ring, sealingKey(known)?.id);
            living.push({ ring: action.ring, process });
          }
        } else if (action.kind === "stop") {
          living = living.filter((one) => one !== member);
        } else if (action.kind === "look" && member !== undefined) {
          const others = living.filter((one) => one !== member).map(({ process }) => process);
          assert.ok(bring(member.ring, others), "a living process never ceases to fit");
          member.process.sealsWith = sealingKey(known)?.id ?? "none";
        } else if (action.kind === "retire") {
          const current = sealingKey(known);
          const processes = living.map(({ process }) => process);
          if (current === null || sealingElsewhere(current.id, processes).length > 0) return;
          known = known.map((one) =>
            one.state === "in_use" && one !== current ? { ...one, state: "retired" } : one,
          );
          // Data under old keys is resealed.
          stored.clear();
        }
        for (const { process } of living) {
          const sealing = known.find(({ id }) => id === process.sealsWith);
          assert.equal(sealing?.state, "in_use", "nobody seals with a key that is not in use");
          if (sealing !== undefined) stored.add(markOf(sealing));
        }
        for (const mark of stored) {
          for (const { process } of living)
            assert.ok(process.loaded.includes(mark), `${process.id} reads ${mark}`);
          const needed = known.find((one) => markOf(one) === mark);
          assert.equal(needed?.state, "in_use", "a key with data stays");
        }
        for (const needed of known.filter(({ state }) => state === "in_use")) {
          assert.deepEqual(
            withoutKey(
              needed,
              living.map(({ process }) => process),
            ),
            [],
          );
        }
      });
    }),
    { numRuns: 2000 },
  );
});

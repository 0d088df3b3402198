import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz, shareInputs } from "./fuzz.ts";
import type { FuzzReader, FuzzTarget } from "./fuzz-target.ts";

class OwnError extends Error {
  readonly code = "refused";
}

const readerOf = (name: string, read: FuzzReader["read"]): FuzzReader => ({
  name,
  read,
  seeds: () => [Uint8Array.of(1, 2, 3)],
  damage: (_, dice) => dice.bytes(1 + dice.below(9)),
});

const targetOf = (...readers: FuzzReader[]): FuzzTarget => ({
  readers,
  refusal: OwnError,
  canaries: /ERIKSSON/,
  maxMilliseconds: 5,
  maxResidentMegabytes: 1,
});

async function tenInputs(reader: FuzzReader) {
  return await fuzz(targetOf(reader), { inputsOf: () => 10, seed: 1, isTimed: true });
}

test("the fuzzer notices foreign errors, quoted input, changed input and slow readers", async () => {
  const bad: Record<string, FuzzReader["read"]> = {
    threw: () => {
      throw new RangeError("out of range");
    },
    "threw TypeError: late": async () => {
      await Promise.resolve();
      throw new TypeError("late");
    },
    quoted: () => {
      throw new OwnError("cannot read ERIKSSON");
    },
    changed: (bytes) => {
      bytes[0] = (bytes[0] ?? 0) ^ 1;
    },
    took: () => {
      const { user, system } = process.cpuUsage();
      for (let spent = 0; spent < 8_000; ) {
        const now = process.cpuUsage();
        spent = now.user + now.system - user - system;
      }
    },
  };
  for (const [problem, read] of Object.entries(bad)) {
    const { failures } = await tenInputs(readerOf("bad", read));
    assert.equal(failures.length, 10, problem);
    for (const failure of failures) assert.ok(failure.problem.startsWith(problem), failure.problem);
  }
});

test("a reader may refuse with its own error or accept, and both are counted", async () => {
  const { tallies, failures } = await tenInputs(
    readerOf("good", (bytes) => {
      if (bytes.length > 4) throw new OwnError("too long");
    }),
  );
  assert.deepEqual(failures, []);
  const [{ inputs, accepted, refusals } = assert.fail()] = tallies;
  assert.equal(inputs, 10);
  assert.equal(accepted + (refusals.get("refused") ?? 0), 10);
});

test("the same seed gives the same inputs, and another seed others", async () => {
  const seen = async (seed: number) => {
    const inputs: string[] = [];
    const reader = readerOf("listening", (bytes) => inputs.push(bytes.join()));
    await fuzz(targetOf(reader), { inputsOf: () => 200, seed, isTimed: false });
    return inputs;
  };
  const first = await seen(5);
  assert.deepEqual(await seen(5), first);
  assert.notDeepEqual(await seen(6), first);
  assert.ok(new Set(first).size > 50, "inputs differ from each other");
});

test("a costly reader gets one input of a hundred, and the others share the rest", () => {
  const quick = readerOf("quick", () => {});
  const costly: FuzzReader = { ...readerOf("costly", () => {}), isCostly: true };
  const share = shareInputs([quick, quick, costly], 1_000);
  assert.deepEqual([share(quick), share(costly)], [495, 10]);
  assert.equal(shareInputs([costly, costly], 1_000)(costly), 500, "alone they share all of them");
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faceColours, faceMovements } from "@assay/contract/verify-protocol";
import fc from "fast-check";
import { BOB, performed } from "../../test/support/performed-movements.ts";
import { type Challenge, DEFAULT_SHAPE, newChallenge } from "./challenge.ts";
import { judgeColours } from "./colour-signal.ts";
import { DEFAULT_LIMITS, judgeMovements, type LivenessReason, picksForEmbedding } from "./liveness.ts";
import type { FaceMeasurement, FrameMeasurement } from "./measurement.ts";

const challenges = fc
  .infiniteStream(fc.nat(1_000_000))
  .map((numbers): Challenge => newChallenge((below) => (numbers.next().value ?? 0) % below));
const people = fc.record({
  yaw: fc.double({ min: -8, max: 8, noNaN: true }),
  pitch: fc.double({ min: -15, max: 15, noNaN: true }),
  size: fc.double({ min: 120, max: 260, noNaN: true }),
  tremble: fc.double({ min: 0, max: 1, noNaN: true }),
});
const randoms = fc.nat(1_000_000).map((seed) => {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
});

function reasonsOf(frames: readonly FrameMeasurement[], challenge: Challenge): readonly LivenessReason[] {
  const judged = judgeMovements(frames, challenge);
  return judged.ok ? [] : judged.reasons;
}

/** Each case takes a passing try and spoils it in one way. */
function spoilt(
  expected: LivenessReason,
  spoil: (frames: FrameMeasurement[], challenge: Challenge, random: () => number) => FrameMeasurement[],
): void {
  fc.assert(
    fc.property(challenges, people, randoms, (challenge, person, random) => {
      const frames = spoil(performed(challenge.movements, person, random), challenge, random);
      const reasons = reasonsOf(frames, challenge);
      assert.ok(reasons.includes(expected), `expected ${expected}, got ${reasons.join(", ") || "a pass"}`);
    }),
    { numRuns: 60 },
  );
}

const withFace = (frame: FrameMeasurement, change: (face: FaceMeasurement) => Partial<FaceMeasurement>) =>
  frame.face === undefined ? frame : { ...frame, face: { ...frame.face, ...change(frame.face) } };

describe("a challenge", () => {
  it("is of the asked length, from the known words, and nothing follows itself", () => {
    fc.assert(
      fc.property(challenges, ({ movements, colours }) => {
        assert.equal(movements.length, DEFAULT_SHAPE.movements);
        assert.equal(colours.length, DEFAULT_SHAPE.colours);
        assert.ok(movements.every((movement) => faceMovements.includes(movement)));
        assert.ok(colours.every((colour) => faceColours.includes(colour)));
        for (const list of [movements, colours])
          assert.ok(list.every((item, index) => item !== list[index - 1]));
      }),
    );
  });

  it("can be every one of the possible sequences", () => {
    const seen = new Set<string>();
    const draw = (prefix: readonly number[]): void => {
      if (prefix.length === DEFAULT_SHAPE.movements) {
        const numbers = [...prefix];
        seen.add(newChallenge((below) => (numbers.shift() ?? 0) % below).movements.join());
        return;
      }
      for (let number = 0; number < (prefix.length === 0 ? 4 : 3); number++) draw([...prefix, number]);
    };
    draw([]);
    assert.equal(seen.size, 4 * 3 * 3 * 3);
  });

  it("refuses a random source that answers outside its bounds", () => {
    assert.throws(() => newChallenge((below) => below), RangeError);
  });
});

describe("movements", () => {
  it("pass when they are made as asked, whoever makes them", () => {
    fc.assert(
      fc.property(challenges, people, randoms, (challenge, person, random) => {
        const judged = judgeMovements(performed(challenge.movements, person, random), challenge);
        assert.ok(judged.ok, judged.ok ? "" : judged.reasons.join(", "));
        assert.ok(judged.frontal.length >= 2);
      }),
      { numRuns: 200 },
    );
  });

  it("fail in every other order, with one left out, and with one too many", () => {
    fc.assert(
      fc.property(
        challenges,
        fc.array(fc.constantFrom(...faceMovements), { minLength: 1, maxLength: 6 }),
        people,
        randoms,
        (challenge, made, person, random) => {
          fc.pre(made.join() !== challenge.movements.join());
          const reasons = reasonsOf(performed(made, person, random), challenge);
          const isStart = made.every((movement, index) => movement === challenge.movements[index]);
          if (isStart && made.length < challenge.movements.length)
            assert.ok(
              reasons.includes("movement_missing") || reasons.includes("too_few_frames"),
              reasons.join(),
            );
          else
            assert.ok(
              reasons.includes("movement_wrong") || reasons.includes("too_few_frames"),
              reasons.join(),
            );
        },
      ),
      { numRuns: 200 },
    );
  });

  it("fail when the head does not come back at the end", () =>
    spoilt("movement_missing", (frames, challenge) => {
      const last = challenge.movements.at(-1);
      // Of the last movement the way back is cut off: 2 straight looks and the end are dropped.
      assert.ok(last !== undefined);
      return frames.slice(0, -6);
    }));

  it("fail for a still photograph", () =>
    spoilt("face_still", (_, challenge, random) =>
      performed(challenge.movements, { yaw: 0, pitch: 0, size: 180, tremble: 1 }, random).map((frame) =>
        withFace(frame, () => ({
          yaw: random(),
          pitch: random(),
          size: 180 + random(),
          box: { x: 200, y: 120, width: 180, height: 180 },
        })),
      ),
    ));

  it("fail when the head jumps, the picture shifts, or the room changes its light", () => {
    const middle = (frames: readonly FrameMeasurement[]) => Math.floor(frames.length / 2);
    const from = (change: (face: FaceMeasurement) => Partial<FaceMeasurement>) =>
      spoilt("cut", (frames) =>
        frames.map((frame, index) => (index < middle(frames) ? frame : withFace(frame, change))),
      );
    from((face) => ({ yaw: face.yaw + 70 }));
    from((face) => ({ box: { ...face.box, x: face.box.x + 250 } }));
    from((face) => ({ size: face.size * 2.1 }));
    from(() => ({ surroundingLight: [0.02, 0.02, 0.02] }));
    spoilt("cut", (frames) =>
      frames.map((frame, index) => (index < middle(frames) ? frame : { ...frame, width: 720 })),
    );
  });

  it("fail when another person takes over", () =>
    spoilt("face_changed", (frames) =>
      frames.map((frame, index) =>
        index < frames.length * 0.7 ? frame : withFace(frame, () => ({ embedding: BOB })),
      ),
    ));

  it("fail when another person steps in only while the head is turned", () =>
    spoilt("face_changed", (frames) => {
      const { turned } = picksForEmbedding(frames);
      return frames.map((frame, index) =>
        index === turned[0] ? withFace(frame, () => ({ embedding: BOB })) : frame,
      );
    }));

  it("fail without embeddings, whatever else is right", () =>
    spoilt("face_changed", (frames) =>
      frames.map((frame) => {
        if (frame.face === undefined) return frame;
        const { embedding: _, ...face } = frame.face;
        return { ...frame, face };
      }),
    ));

  it("fail with a second face beside", () =>
    spoilt("several_faces", (frames) => frames.map((frame) => ({ ...frame, faces: 2 }))));

  it("fail when the face is away too often or too long", () => {
    spoilt("no_face", (frames) =>
      frames.map((frame, index) => (index % 4 === 1 ? { ...frame, faces: 0, face: undefined } : frame)),
    );
    fc.assert(
      fc.property(challenges, people, randoms, (challenge, person, random) => {
        const frames = performed(challenge.movements, person, random, 220);
        const gone = frames.map((frame, index) =>
          index >= 5 && index < 8 ? { ...frame, faces: 0, face: undefined } : frame,
        );
        assert.deepEqual(reasonsOf(frames, challenge), []);
        assert.ok(reasonsOf(gone, challenge).includes("frame_rate_too_low"));
      }),
      { numRuns: 30 },
    );
  });

  it("fail with too few frames, too far apart, at impossible times, too late or not sent as they were taken", () => {
    spoilt("too_few_frames", (frames) => frames.slice(0, DEFAULT_LIMITS.minFrames - 1));
    spoilt("frame_rate_too_low", (frames) =>
      frames.map((frame) => ({
        ...frame,
        atMs: frame.atMs * 3,
        receivedAtMs: frame.atMs * 3 + 400,
      })),
    );
    spoilt("frame_times_invalid", (frames) => [...frames].reverse());
    spoilt("frame_times_invalid", (frames) => frames.map((frame) => ({ ...frame, atMs: Number.NaN })));
    spoilt("frame_times_invalid", (frames) => frames.map((frame) => ({ ...frame, receivedAtMs: 0 })));
    spoilt("frames_not_fresh", (frames) =>
      frames.map((frame, index) => ({
        ...frame,
        receivedAtMs: index === 0 ? frame.atMs + 9_000 : frame.atMs + 400,
      })),
    );
    spoilt("deadline_passed", (frames, { deadlineMs }) =>
      frames.map((frame) => ({ ...frame, receivedAtMs: frame.atMs + deadlineMs })),
    );
  });

  it("fail for a face too small to tell, or not straight at the start", () => {
    spoilt("face_too_small", (frames) => frames.map((frame) => withFace(frame, () => ({ size: 30 }))));
    spoilt("not_frontal_at_start", (frames) =>
      frames.map((frame) => withFace(frame, ({ yaw }) => ({ yaw: yaw + 30 }))),
    );
  });

  it("never throw and never pass on measurements that are not numbers", () => {
    const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
    fc.assert(
      fc.property(challenges, people, randoms, odd, (challenge, person, random, value) => {
        const frames = performed(challenge.movements, person, random).map((frame) =>
          withFace(frame, () => ({ yaw: value })),
        );
        assert.equal(judgeMovements(frames, challenge).ok, false);
      }),
      { numRuns: 30 },
    );
  });
});

describe("colours", () => {
  const SCREEN = { red: [1, 0, 0], green: [0, 1, 0], blue: [0, 0, 1], white: [1, 1, 1] } as const;

  function lit(
    challenge: Challenge,
    shown: Challenge,
    how: { reflection: number; noise: number; lagMs?: number },
    random: () => number,
  ): FrameMeasurement[] {
    return performed(challenge.movements, { yaw: 0, pitch: 0, size: 180, tremble: 1 }, random, 200).map(
      (frame) => {
        const slot = Math.floor(Math.max(frame.atMs - (how.lagMs ?? 0), 0) / shown.colourMs);
        const screen = SCREEN[shown.colours[slot % shown.colours.length] ?? "white"];
        // Turning changes how bright the face is much more than any screen does.
        const shade = 1 - Math.abs(frame.face?.yaw ?? 0) / 100;
        const channel = (base: number, on: number) =>
          base * shade * (1 + on * how.reflection) * (1 + (random() - 0.5) * 2 * how.noise);
        return withFace(frame, () => ({
          faceLight: [channel(0.4, screen[0]), channel(0.3, screen[1]), channel(0.25, screen[2])],
        }));
      },
    );
  }

  it("are followed by a face that the screen lights, late or not", () => {
    fc.assert(
      fc.property(challenges, randoms, fc.constantFrom(0, 150, 350), (challenge, random, lagMs) => {
        const frames = lit(challenge, challenge, { reflection: 0.05, noise: 0.005, lagMs }, random);
        const finding = judgeColours(frames, challenge);
        assert.equal(finding.outcome, "followed", JSON.stringify(finding));
      }),
      { numRuns: 100 },
    );
  });

  it("cannot be told when the screen adds nothing to the light of the room", () => {
    fc.assert(
      fc.property(challenges, randoms, (challenge, random) => {
        const frames = lit(challenge, challenge, { reflection: 0, noise: 0.002 }, random);
        assert.equal(judgeColours(frames, challenge).outcome, "unmeasurable");
      }),
      { numRuns: 50 },
    );
  });

  it("are not followed by a recording of the opposite sequence", () => {
    const opposite = { red: "green", green: "red", blue: "green", white: "white" } as const;
    fc.assert(
      fc.property(challenges, randoms, (challenge, random) => {
        const other = { ...challenge, colours: challenge.colours.map((colour) => opposite[colour]) };
        fc.pre(challenge.colours.includes("red") && challenge.colours.includes("green"));
        const finding = judgeColours(
          lit(challenge, other, { reflection: 0.05, noise: 0.005 }, random),
          challenge,
        );
        assert.notEqual(finding.outcome, "followed", JSON.stringify(finding));
      }),
      { numRuns: 50 },
    );
  });
});

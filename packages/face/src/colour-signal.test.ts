import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { performed } from "../test/performed-movements.ts";
import { challenges, randoms, withFace } from "../test/tries.ts";
import type { Challenge } from "./challenge.ts";
import { colourAt, screenLight } from "./colour-schedule.ts";
import { judgeColours } from "./colour-signal.ts";
import type { FrameMeasurement } from "./measurement.ts";

function lit(
  challenge: Challenge,
  shown: Challenge,
  how: { reflection: number; noise: number; lagMs?: number },
  random: () => number,
): FrameMeasurement[] {
  return performed(challenge.movements, { yaw: 0, pitch: 0, size: 180, tremble: 1 }, random, 200).map(
    (frame) => {
      const screen = screenLight[colourAt(shown, frame.atMs - (how.lagMs ?? 0))];
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

test("colours are followed by a face that the screen lights, late or not", () => {
  fc.assert(
    fc.property(challenges, randoms, fc.constantFrom(0, 150, 350), (challenge, random, lagMs) => {
      const frames = lit(challenge, challenge, { reflection: 0.05, noise: 0.005, lagMs }, random);
      const finding = judgeColours(frames, challenge);
      assert.equal(finding.outcome, "followed", JSON.stringify(finding));
    }),
    { numRuns: 100 },
  );
});

test("colours cannot be told when the screen adds nothing to the light of the room", () => {
  fc.assert(
    fc.property(challenges, randoms, (challenge, random) => {
      const frames = lit(challenge, challenge, { reflection: 0, noise: 0.002 }, random);
      assert.equal(judgeColours(frames, challenge).outcome, "unmeasurable");
    }),
    { numRuns: 50 },
  );
});

test("colours are not followed by a recording of the opposite sequence", () => {
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

import {
  type FaceColour,
  type FaceMovement,
  faceColours,
  faceMovements,
} from "@assay/contract/verify-protocol";

/** What a person is asked to do in one try, and what the screen shows meanwhile. */
export interface Challenge {
  /** From looking straight ahead, in this order, back to straight ahead after each. Left and right are the person's own. */
  readonly movements: readonly FaceMovement[];
  /** The whole screen, one after another and again from the first, from the moment the device takes its first picture. */
  readonly colours: readonly FaceColour[];
  readonly colourMs: number;
  /** From giving out the challenge to the arrival of the last frame. */
  readonly deadlineMs: number;
}

export interface ChallengeShape {
  readonly movements: number;
  readonly colours: number;
  readonly colourMs: number;
  readonly deadlineMs: number;
}

/**
 * Four movements make 108 sequences. A colour stays for nearly a second, so that nothing flashes more than three times in a second,
 * which could harm people with photosensitive epilepsy.
 */
export const DEFAULT_SHAPE: ChallengeShape = {
  movements: 4,
  colours: 8,
  colourMs: 900,
  deadlineMs: 45_000,
};

/** `random(n)` is a whole number from 0 to n - 1, unpredictable to the device. Nothing follows itself: a person could not tell where one ends. */
export function newChallenge(random: (below: number) => number, shape = DEFAULT_SHAPE): Challenge {
  return {
    movements: drawSequence(faceMovements, shape.movements, random),
    colours: drawSequence(faceColours, shape.colours, random),
    colourMs: shape.colourMs,
    deadlineMs: shape.deadlineMs,
  };
}

function drawSequence<T>(from: readonly T[], length: number, random: (below: number) => number): T[] {
  const drawn: T[] = [];
  while (drawn.length < length) {
    const last = drawn.at(-1);
    const open = from.filter((candidate) => candidate !== last);
    const next = open[random(open.length)];
    if (next === undefined) throw new RangeError("The random source answered outside its bounds");
    drawn.push(next);
  }
  return drawn;
}

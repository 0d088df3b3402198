import {
  type FaceColour,
  type FaceMovement,
  faceColours,
  stillHeadMovements,
  turningMovements,
} from "@assay/contract/verify-protocol";

/** What a person is asked to do in one try, and what the screen shows meanwhile. */
export type Challenge = {
  /** From looking straight ahead, in this order, back to straight ahead after each. Left and right are the person's own. */
  readonly movements: readonly FaceMovement[];
  /** The whole screen, one after another and again from the first, from the moment the device takes its first picture. */
  readonly colours: readonly FaceColour[];
  readonly colourMs: number;
  /** From giving out the challenge to the arrival of the last frame. */
  readonly deadlineMs: number;
};

type ChallengeShape = {
  readonly movements: number;
  readonly colours: number;
  readonly colourMs: number;
  readonly deadlineMs: number;
};

/** By hand. */
export const challengeShape: ChallengeShape = {
  /**
   * 108 sequences. Half: 12, so that one recording in 12 fits. Twice: 8,748, but neither the frames nor the deadline
   * last for the slowest person.
   */
  movements: 4,
  /**
   * Half: 108 sequences instead of 8,748, all of them seen in four seconds. Twice: 14.4 seconds, and who follows at
   * once is done after 12 and never sees the end of it.
   */
  colours: 8,
  /**
   * A colour changes about once a second: more than three flashes in a second could harm people with photosensitive
   * epilepsy, which the contract's least of 334 ms forbids. Half: at the page's slowest pace a colour is seen in one
   * frame only. Twice: too few changes in 12 seconds to correlate anything with.
   */
  colourMs: 900,
  /**
   * Half: the page's slowest person, who takes 31 seconds, is too late. Twice: as much more time to make an answer that
   * is not live; the contract's 110 frames are used up after 36 seconds at the least pace anyway.
   */
  deadlineMs: 45_000,
};

/**
 * `random(n)` is a whole number from 0 to n - 1, unpredictable to the device. No movement and no colour follows itself:
 * a person could not tell where one ends and the next begins. With `stillHead` there are three movements and 24
 * sequences: the colours, of which there are as many as otherwise, then carry more of what makes a challenge
 * unpredictable.
 */
export function newChallenge(
  random: (below: number) => number,
  { stillHead = false, shape = challengeShape }: { stillHead?: boolean; shape?: ChallengeShape } = {},
): Challenge {
  return {
    movements: drawSequence<FaceMovement>(
      stillHead ? stillHeadMovements : turningMovements,
      shape.movements,
      random,
    ),
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

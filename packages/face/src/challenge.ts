import {
  type FaceColour,
  type FaceMovement,
  faceColours,
  stillHeadMovements,
  turningMovements,
} from "@assay/contract/verify-protocol";

/** What a person must do in one try, and what the screen shows meanwhile. */
export type Challenge = {
  /** Each starts from and returns to looking straight ahead. Left and right are the person's. */
  readonly movements: readonly FaceMovement[];
  /** The whole screen shows them in order, repeating, from the moment the device takes its first picture. */
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

/** Set by hand. */
export const challengeShape: ChallengeShape = {
  /**
   * 108 sequences. Two movements would give 12, so that one recording in 12 fits. Eight would give 8,748, but
   * neither frames nor deadline suffice for the slowest person.
   */
  movements: 4,
  /**
   * 8,748 sequences. Four colours would give only 108.
   * Sixteen would take 14.4 seconds, and a quick person finishes after 12.
   */
  colours: 8,
  /**
   * One change in about a second: more than three flashes a second could harm people with photosensitive
   * epilepsy, so the contract's minimum is 334 ms. Shorter: the slowest page sees a colour in one frame only.
   * Longer: too few changes in 12 seconds to correlate.
   */
  colourMs: 900,
  /**
   * The page's slowest person takes 31 seconds. Longer: more time to forge an answer; the contract's 110
   * frames last 36 seconds at the slowest pace anyway.
   */
  deadlineMs: 45_000,
};

/**
 * `random(n)` returns an integer from 0 to n - 1 that the device cannot predict. No movement and no colour
 * follows itself, because a person could not see where one ends. With `stillHead` there are three movements
 * and 24 sequences, so the colours carry more of the unpredictability.
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

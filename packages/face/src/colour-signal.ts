import type { FaceColour } from "@assay/contract/verify-protocol";
import type { Challenge } from "./challenge.ts";
import { colourAt, screenLight } from "./colour-schedule.ts";
import type { FaceMeasurement, FrameMeasurement, Light } from "./measurement.ts";

export type ColourLimits = {
  /** Correlation from which the face counts as lit by the screen. */
  readonly followedFrom: number;
  /** Smallest change of the face's colour between two screen colours, relative to the face's light. */
  readonly minReflection: number;
  /**
   * Smallest variation of the face's colour at which "does not follow" is meaningful. Turning the head causes
   * as much, and in a bright room the screen adds no more: below it the result is "not measurable".
   */
  readonly minVariation: number;
  /**
   * Tested delays of the picture behind the screen.
   * Screens, cameras and encoders have a constant delay throughout a try.
   */
  readonly lagsMs: readonly number[];
};

/**
 * Set by hand. The shares are of 500 simulated tries each, as in `bench/face.ts`. With films of the drawn
 * people, half and twice of each number gave the same verdicts.
 */
export const colourLimits: ColourLimits = {
  /**
   * Halved, a recording lit by another sequence passes in 18 % of tries instead of 4 %. At 0.8 a reflection
   * of 2 % with noise of 1 % passes in 2 % instead of 88 %.
   */
  followedFrom: 0.6,
  /**
   * Halved, no difference was measured.
   * Doubled, a face that reflects 0.8 % never passes; today it always does.
   */
  minReflection: 0.006,
  /**
   * Halved, a face in daylight that only turns may count as not following, which costs 0.3 of risk instead of
   * 0.1. Doubled, noise of 1 % without reflection is unmeasurable in 99 % instead of 0 %, and excuses an
   * attack as daylight.
   */
  minVariation: 0.012,
  /** Up to 0.5 s. With up to 1 s, more lags fit by chance: the recording passes in 7 % instead of 4 %. */
  lagsMs: [0, 100, 200, 300, 400, 500],
};

export type ColourFinding = {
  readonly outcome: "followed" | "not_followed" | "unmeasurable";
  /** From -1 to 1, at the lag that fits best. */
  readonly correlation: number;
  /** How strongly the face reflects the screen's colour, relative to the face's light. */
  readonly reflection: number;
  /**
   * The same for the surroundings, as a share of the face's:
   * screen light falls off with distance, a tint over a video does not.
   */
  readonly surroundingShare: number;
  readonly lagMs: number;
};

/**
 * Red and blue relative to green, on a logarithmic scale:
 * this removes brightness, and with it most effects of turning.
 */
function chroma([red, green, blue]: Light): readonly [number, number] {
  const floor = 0.002;
  const middle = Math.log(green + floor);
  return [Math.log(red + floor) - middle, Math.log(blue + floor) - middle];
}

function expected(colour: FaceColour): readonly [number, number] {
  const [red, green, blue] = screenLight[colour];
  return [red - green, blue - green];
}

type Points = readonly (readonly [number, number])[];

function centred(points: Points): Points {
  const mean = [0, 1].map(
    (axis) => points.reduce((sum, point) => sum + (point[axis] ?? 0), 0) / points.length,
  );
  return points.map(([a, b]) => [a - (mean[0] ?? 0), b - (mean[1] ?? 0)]);
}

function product(a: Points, b: Points): number {
  return a.reduce((sum, [x, y], index) => sum + x * (b[index]?.[0] ?? 0) + y * (b[index]?.[1] ?? 0), 0);
}

type LitFrame = {
  readonly atMs: number;
  readonly face: FaceMeasurement;
};

function reflectionAround(frames: readonly LitFrame[], challenge: Challenge, lagMs: number): number {
  const seen = frames.flatMap(({ atMs, face: { surroundingLight } }) =>
    surroundingLight === null ? [] : [{ atMs, light: surroundingLight }],
  );
  if (seen.length === 0) return 0;
  const shown = centred(seen.map(({ atMs }) => expected(colourAt(challenge, atMs - lagMs))));
  const power = product(shown, shown);
  return power === 0 ? 0 : product(centred(seen.map(({ light }) => chroma(light))), shown) / power;
}

/** Whether the colour of the face follows the colours of the screen. */
export function judgeColours(
  frames: readonly FrameMeasurement[],
  challenge: Challenge,
  limits: ColourLimits = colourLimits,
): ColourFinding {
  const lit = frames.flatMap(({ atMs, face }): LitFrame[] => (face === null ? [] : [{ atMs, face }]));
  const nothing = { correlation: 0, reflection: 0, surroundingShare: 0, lagMs: 0 };
  if (lit.length < challenge.colours.length) return { outcome: "unmeasurable", ...nothing };
  const face = centred(lit.map((frame) => chroma(frame.face.faceLight)));
  let best = { ...nothing, correlation: -1 };
  for (const lagMs of limits.lagsMs) {
    const shown = centred(lit.map(({ atMs }) => expected(colourAt(challenge, atMs - lagMs))));
    const shownPower = product(shown, shown);
    const facePower = product(face, face);
    if (shownPower === 0 || facePower === 0) continue;
    const common = product(face, shown);
    const correlation = common / Math.sqrt(shownPower * facePower);
    if (correlation > best.correlation) {
      const reflection = common / shownPower;
      best = {
        correlation,
        reflection,
        surroundingShare: reflection === 0 ? 0 : reflectionAround(lit, challenge, lagMs) / reflection,
        lagMs,
      };
    }
  }
  if (best.correlation >= limits.followedFrom && best.reflection >= limits.minReflection)
    return { outcome: "followed", ...best };
  const variation = Math.sqrt(product(face, face) / lit.length);
  return { outcome: variation < limits.minVariation ? "unmeasurable" : "not_followed", ...best };
}

import type { ColourFinding } from "./colour-signal.ts";
import { highlightDrift } from "./fixed-highlights.ts";
import { planeResidual } from "./flat-thing.ts";
import type { FrameMeasurement } from "./measurement.ts";
import { screenPattern } from "./screen-pattern.ts";

/**
 * Signs of a presentation attack (ISO/IEC 30107: something other than a live person before the camera) that
 * need no model:
 * - `flat_thing`: the face grew as one plane when it came closer, like a print or a screen.
 * - `screen_pattern`: the face has the waves of a filmed screen (moiré, banding).
 * - `colours_late`: the reflected screen colours lag more than a camera does.
 * - `colours_everywhere`: the surroundings reflect the colours as strongly as the face.
 * - `highlights_fixed`: bright spots on the face turn with the head.
 */
export const attackSignals = [
  "flat_thing",
  "screen_pattern",
  "colours_late",
  "colours_everywhere",
  "highlights_fixed",
] as const;
export type AttackSignal = (typeof attackSignals)[number];

export type AttackLimit = { readonly raisedWhen: "above" | "below"; readonly limit: number };

/**
 * Measured with `npm run face-attacks` on drawn people and rendered attacks only, not on real people or
 * attacks. So a signal raises the risk and refuses no try. docs/face-error-rates.md has the error rates.
 */
export const attackLimits: Readonly<Record<AttackSignal, AttackLimit>> = {
  /**
   * Rendered heads have 4.7 and more, prints 2.5 to 7.
   * Halved, it finds no print; doubled, it flags most heads.
   */
  flat_thing: { raisedWhen: "below", limit: 4 },
  /**
   * Eyes and edges of rendered people reach 50, filmed screens 30 to 150.
   * Lower: flags people. Higher: misses screens.
   */
  screen_pattern: { raisedWhen: "above", limit: 80 },
  /** Rendered cameras lag up to 0.2 s. Halved, it flags them; doubled, it exceeds every tested lag. */
  colours_late: { raisedWhen: "above", limit: 350 },
  /**
   * Rendered surroundings reflect up to half as strongly as the face; a tint is equal everywhere. Halved, it
   * flags light walls; doubled, nothing.
   */
  colours_everywhere: { raisedWhen: "above", limit: 0.8 },
  /**
   * Rendered heads have 4 to 5.5, masks up to 3.3.
   * Halved, it finds half of the masks; doubled, it flags every head.
   */
  highlights_fixed: { raisedWhen: "below", limit: 3.6 },
};

/** The value of each signal; null if not measurable. */
export function measureAttacks(
  frames: readonly FrameMeasurement[],
  colours: ColourFinding,
): Readonly<Record<AttackSignal, number | null>> {
  const followed = colours.outcome === "followed";
  return {
    flat_thing: planeResidual(frames),
    screen_pattern: screenPattern(frames),
    colours_late: followed ? colours.lagMs : null,
    colours_everywhere: followed ? colours.surroundingShare : null,
    highlights_fixed: highlightDrift(frames),
  };
}

/** The signals that were raised. One that could not be measured, or is not a number, is not. */
export function judgeAttacks(
  frames: readonly FrameMeasurement[],
  colours: ColourFinding,
  limits: Readonly<Record<AttackSignal, AttackLimit>> = attackLimits,
): readonly AttackSignal[] {
  const measured = measureAttacks(frames, colours);
  return attackSignals.filter((signal) => {
    const value = measured[signal];
    const { raisedWhen, limit } = limits[signal];
    return value !== null && (raisedWhen === "above" ? value > limit : value < limit);
  });
}

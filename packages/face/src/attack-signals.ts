import type { ColourFinding } from "./colour-signal.ts";
import { highlightDrift } from "./fixed-highlights.ts";
import { planeResidual } from "./flat-thing.ts";
import type { FrameMeasurement } from "./measurement.ts";
import { screenPattern } from "./screen-pattern.ts";

/**
 * Signs of a presentation attack (something else than a person before the camera, ISO/IEC 30107) that need no model to be seen:
 * - `flat_thing`: what came closer grew as one plane, as a print or a screen does.
 * - `screen_pattern`: the face has the waves of a filmed screen (moiré, banding).
 * - `colours_late`: the colours of the screen come back later than a camera is.
 * - `colours_everywhere`: they come back from the surroundings as strongly as from the face.
 * - `highlights_fixed`: what is bright on the face turns with the head.
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
 * From `npm run face-attacks`, on drawn people and rendered attacks alone: nothing here was measured on people or on
 * real attacks, so a signal raises the risk and refuses nobody. docs/face-error-rates.md has the error rates.
 */
export const attackLimits: Readonly<Record<AttackSignal, AttackLimit>> = {
  /** Rendered heads have 4.7 and more, prints 2.5 to 7. Half: no print is seen. Twice: most heads are raised. */
  flat_thing: { raisedWhen: "below", limit: 4 },
  /** Eyes and edges of rendered people reach 50, filmed screens 30 to 150. Half: people are raised. Twice: hardly any screen is. */
  screen_pattern: { raisedWhen: "above", limit: 80 },
  /** Rendered cameras are up to 0.2 s late. Half: they are raised. Twice: later than any lag that is tried. */
  colours_late: { raisedWhen: "above", limit: 350 },
  /**
   * Rendered surroundings are up to half as strong as the face; a tint is as strong everywhere. Half: light walls are
   * raised. Twice: nothing is.
   */
  colours_everywhere: { raisedWhen: "above", limit: 0.8 },
  /** Rendered heads have 4 to 5.5, masks up to 3.3. Half: half of the masks are seen. Twice: every head is raised. */
  highlights_fixed: { raisedWhen: "below", limit: 3.6 },
};

/** What each signal measured; null where it could not. */
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

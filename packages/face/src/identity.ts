import type { LivenessLimits } from "./limits.ts";
import { distanceOf, type FaceMeasurement, type FrameMeasurement } from "./measurement.ts";
import { median } from "./median.ts";
import { centreOf, isMidExpression } from "./movement.ts";

/**
 * Set by hand. With two, each straight look alone would decide the match. Each embedding takes about 0.1 s.
 */
const frontalPicks = 4;
/**
 * Embeddings compare best straight ahead: drawn people are 0.1 from their portrait there and up to 0.38
 * turned. Lower: people who do not return quite to the middle fail as `face_changed`. Higher: turned looks
 * count in the match.
 */
const frontalDegrees = 9;

/**
 * The frames that get an embedding, the slowest measurement. The straightest of each quarter serve the match.
 * The most turned ones ensure that no other person takes over during a turn.
 */
export function picksForEmbedding(frames: readonly FrameMeasurement[]): {
  readonly frontal: readonly number[];
  readonly turned: readonly number[];
} {
  const counted = frames.flatMap(({ atMs, face }, index) => (face === null ? [] : [{ atMs, face, index }]));
  const centre = centreOf(counted.map(({ face }) => face));
  if (centre === null) return { frontal: [], turned: [] };
  const away = (face: FaceMeasurement) =>
    isMidExpression(face, centre)
      ? Infinity
      : Math.max(Math.abs(face.yaw - centre.yaw), Math.abs(face.pitch - centre.pitch));
  const frontal: number[] = [];
  for (let quarter = 0; quarter < frontalPicks; quarter++) {
    const from = Math.floor((quarter * counted.length) / frontalPicks);
    const part = counted.slice(from, Math.floor(((quarter + 1) * counted.length) / frontalPicks));
    const best = part.reduce<(typeof part)[number] | undefined>(
      (least, next) => (least === undefined || away(next.face) < away(least.face) ? next : least),
      undefined,
    );
    if (best !== undefined && away(best.face) <= frontalDegrees) frontal.push(best.index);
  }
  const furthest = (value: (face: FaceMeasurement) => number) =>
    counted.reduce((most, next) => (value(next.face) > value(most.face) ? next : most), counted[0] as never)
      .index;
  const turned = new Set([
    furthest((face) => face.yaw),
    furthest((face) => -face.yaw),
    furthest((face) => face.pitch),
    furthest((face) => face.size),
  ]);
  return { frontal, turned: [...turned].filter((index) => !frontal.includes(index)) };
}

/** Whether one person is seen throughout. */
export function judgeIdentity(
  frames: readonly FrameMeasurement[],
  limits: Pick<LivenessLimits, "samePersonFrontal" | "samePersonTurned">,
): { readonly same: boolean; readonly spread: number; readonly frontal: readonly (readonly number[])[] } {
  const picks = picksForEmbedding(frames);
  const embeddings = (indexes: readonly number[]) =>
    indexes.flatMap((index) => {
      const embedding = frames[index]?.face?.embedding;
      return embedding === undefined ? [] : [embedding];
    });
  const frontal = embeddings(picks.frontal);
  const turned = embeddings(picks.turned);
  // At least two straight looks are needed to compare the person.
  if (frontal.length < 2) return { same: false, spread: 0, frontal };
  let spread = 0;
  for (const [index, one] of frontal.entries())
    for (const other of frontal.slice(index + 1)) spread = Math.max(spread, distanceOf(one, other));
  const strangers = turned.filter(
    (embedding) => median(frontal.map((other) => distanceOf(embedding, other))) > limits.samePersonTurned,
  );
  return { same: spread <= limits.samePersonFrontal && strangers.length === 0, spread, frontal };
}

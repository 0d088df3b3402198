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
  const edgeOf = (quarter: number) => Math.floor((quarter * counted.length) / frontalPicks);
  const frontal = Array.from({ length: frontalPicks }, (_, quarter) =>
    counted
      .slice(edgeOf(quarter), edgeOf(quarter + 1))
      .filter(({ face }) => away(face) <= frontalDegrees)
      .reduce<(typeof counted)[number] | null>(
        (least, next) => (least === null || away(next.face) < away(least.face) ? next : least),
        null,
      ),
  ).flatMap((straightest) => (straightest === null ? [] : [straightest.index]));
  const furthest = (value: (face: FaceMeasurement) => number) =>
    counted.reduce((most, next) => (value(next.face) > value(most.face) ? next : most)).index;
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
    frames.flatMap(({ face }, index) =>
      face?.embedding === undefined || !indexes.includes(index) ? [] : [face.embedding],
    );
  const frontal = embeddings(picks.frontal);
  const turned = embeddings(picks.turned);
  // At least two straight looks are needed to compare the person.
  if (frontal.length < 2) return { same: false, spread: 0, frontal };
  let spread = 0;
  for (const one of frontal) for (const other of frontal) spread = Math.max(spread, distanceOf(one, other));
  const strangers = turned.filter(
    (embedding) => median(frontal.map((other) => distanceOf(embedding, other))) > limits.samePersonTurned,
  );
  return { same: spread <= limits.samePersonFrontal && strangers.length === 0, spread, frontal };
}

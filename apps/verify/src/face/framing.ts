/**
 * One face as the guide sees it. Lengths and positions are shares of the picture, independent of its size.
 */
export type SeenFace = {
  /** Of the middle of the face; 0.5 is the middle of the picture. */
  readonly x: number;
  readonly y: number;
  /** From the upper end of the face to the chin, as a share of the picture's height. */
  readonly size: number;
  /** Degrees to the person's own left. */
  readonly yaw: number;
  /** Degrees upwards. */
  readonly pitch: number;
  /** Degrees of tilt towards a shoulder. */
  readonly roll: number;
  /** How far eyes and mouth are open, as shares of their widths. */
  readonly eyes: number;
  readonly mouth: number;
  /** From 0 (black) to 1. */
  readonly brightness: number;
};

export type Sight = {
  /** How many faces of like size are in the picture. */
  readonly faces: number;
  /** The largest. */
  readonly face: SeenFace | null;
};

const framings = [
  "no_face",
  "several_faces",
  "too_dark",
  "too_far",
  "too_close",
  "off_centre",
  "not_straight",
  "good",
] as const;
export type Framing = (typeof framings)[number];

// Set by hand, with the drawn people in a browser (`verify-face.browser.test.ts`); not tested with people.

/**
 * Shares of the picture's height. `least`: at half, faces have 62 of 480 pixels, the service's minimum.
 * `most`: a face grows by at least a quarter when it comes closer and must stay in the picture.
 */
const size = { least: 0.26, most: 0.58 } as const;
/** With more, a face may touch the edge, and leaves the picture when it turns. */
const farthestFromMiddle = { x: 0.13, y: 0.13 } as const;
/**
 * The yaw is well below a turn, and within the service's limit for a start (`maxStartYaw`). Pitch and roll
 * are wide, because cameras stand low and heads lean. Lower: many cannot start. Higher: the service fails
 * tries as `not_frontal_at_start`.
 */
const straightDegrees = { yaw: 10, pitch: 22, roll: 15 } as const;
/**
 * At half of this faces are too dark to find. More might ask people with dark skin for more light in an
 * ordinary room (not measured).
 */
const minBrightness = 0.16;

/** The first thing that a person should change about how they are framed. */
export function framingOf({ faces, face }: Sight): Framing {
  if (face === null) return "no_face";
  if (faces > 1) return "several_faces";
  if (face.brightness < minBrightness) return "too_dark";
  if (face.size < size.least) return "too_far";
  if (face.size > size.most) return "too_close";
  const aside = Math.abs(face.x - 0.5) > farthestFromMiddle.x;
  const above = Math.abs(face.y - 0.5) > farthestFromMiddle.y;
  if (aside || above) return "off_centre";
  const straight =
    Math.abs(face.yaw) <= straightDegrees.yaw &&
    Math.abs(face.pitch) <= straightDegrees.pitch &&
    Math.abs(face.roll) <= straightDegrees.roll;
  return straight ? "good" : "not_straight";
}

/** A face must be well framed for this long. Shorter: the try starts while the person still moves. */
const steadyMs = 1_000;
/** A hint that is shown for less time flickers. */
const hintMs = 600;

export type FramingWatch = {
  /** The last sight, and since when without a break. */
  readonly seen: Framing;
  readonly sinceMs: number;
  /** The hint that is shown: it changes once the same was seen for a moment (debouncing). */
  readonly shown: Framing | null;
};

export function watchFraming(before: FramingWatch | null, seen: Framing, atMs: number): FramingWatch {
  const sinceMs = before?.seen === seen ? before.sinceMs : atMs;
  const shown = before?.shown ?? null;
  const settled = shown === null || seen === "good" || atMs - sinceMs >= hintMs;
  return { seen, sinceMs, shown: settled ? seen : shown };
}

export function isReady(watch: FramingWatch, atMs: number): boolean {
  return watch.seen === "good" && atMs - watch.sinceMs >= steadyMs;
}

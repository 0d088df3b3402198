/**
 * The limits of a try. All numbers were set by hand; none was fitted to people. Half and twice of each were
 * tried with two things. "The films" show drawn people, measured by the real models, 21 to 23 frames 200 ms
 * apart. "Simulated people" are simulated measurements (`test/performed-movements.ts`). "(test)":
 * `limits.test.ts` checks it. "Nothing broke" refers to those two only.
 */

/** The pace of the frames: the service judges by it, and the page takes its pictures by it. */
export type CaptureLimits = {
  readonly minFrames: number;
  readonly minFramesPerSecond: number;
  readonly maxGapMs: number;
  readonly maxStepMs: number;
};

export const captureLimits: CaptureLimits = {
  /**
   * At half, nothing broke, but fewer than two looks at each of the eight colours. At twice, all films and
   * quick people fail (test).
   */
  minFrames: 20,
  /**
   * At half, 2.2 frames a second pass, with half a second between looks in which anything can happen (test).
   * At twice, the page's pace of 240 to 300 ms fails (test).
   */
  minFramesPerSecond: 3,
  /**
   * Between two frames, or two looks at a face. At half, one lost frame at the slowest pace leaves a gap of
   * 600 ms and fails the try (test). At twice, a face may be away for over a second, long enough to exchange
   * it (test).
   */
  maxGapMs: 700,
  /**
   * From the start, or from one movement, to the next. At half, a person who takes five seconds for a
   * movement fails, and the page waits that long (test). At twice, there is time to find and cut in a
   * recording (test).
   */
  maxStepMs: 8_000,
};

/** Thresholds of movements: the service judges by them, and the page asks for the next one by them. */
export type MovementLimits = {
  readonly turnDegrees: number;
  readonly lookUpDegrees: number;
  readonly closerRatio: number;
  /** How much of the initial opening of the eyes must disappear. */
  readonly closedEyesShare: number;
  /** By how much the distance of the lips grows, in widths of the mouth. */
  readonly openMouth: number;
  /** A movement ends when every value is back under this share of its threshold. */
  readonly backToCentreShare: number;
  /** Looks in a row that make a movement. */
  readonly framesToCount: number;
  /** Looks in a row with closed eyes that make a movement of it. */
  readonly closedEyesFrames: number;
  /** First looks whose median counts as straight ahead. */
  readonly startFrames: number;
};

export const movementLimits: MovementLimits = {
  /**
   * A print tilted by 54° measures as a turn of at most 8°, a drawn head turned by 27° as 25° to 29°. At
   * half, the tilted print makes turns. At twice, the drawn turn does not count, and every try fails (test).
   */
  turnDegrees: 14,
  /**
   * At half, nothing broke, and a print tilted by 32° is still no look up; a nod would count. At twice, the
   * drawn look up by 16°, measured as 18°, is too little (test).
   */
  lookUpDegrees: 9,
  /**
   * At 1.125 nothing broke; leaning forward a little would count. At 1.5 the drawn 1.4 is too little (test),
   * and the largest face that the page allows would not fit into the picture.
   */
  closerRatio: 1.25,
  /**
   * Drawn open eyes measure 0.28 to 0.38. Closed ones lose only 0.36 to 0.45 of that, because this mesh does
   * not follow a lid completely; a head turned by 27° loses 0.14. At half, such a turn counts. At twice, no
   * closed eye counts.
   */
  closedEyesShare: 0.28,
  /**
   * Drawn closed lips measure 0.02 to 0.11, up to 0.19 when the head looks up, and grow by 0.33 to 0.71 when
   * the mouth opens. At half, speaking counts. At twice, one of three drawn mouths is not open enough.
   */
  openMouth: 0.25,
  /**
   * At half, a print tilted by hand fails as `movement_missing` instead of `face_still`. Above 1 a movement
   * ends while it is made, and a head that wavers at the threshold makes it twice (test).
   */
  backToCentreShare: 0.6,
  /**
   * At half, one wrongly measured frame is a movement (test). At twice, a movement held for less than a
   * second, as in every film, does not count (test).
   */
  framesToCount: 2,
  /**
   * A blink takes 0.3 seconds, one or two frames. At half, every blink is a movement. At twice, eyes must be
   * closed for 1.5 seconds, and a person with closed eyes cannot see how long.
   */
  closedEyesFrames: 3,
  /**
   * With one, a wrongly measured first frame shifts straight ahead for the whole try (test). With six, the
   * first movement of a quick person, as in every film, counts as straight ahead.
   */
  startFrames: 3,
};

export type CutLimits = {
  readonly degrees: number;
  readonly degreesPerSecond: number;
  /** In face heights. */
  readonly shift: number;
  readonly shiftPerSecond: number;
  readonly growth: number;
  readonly growthPerSecond: number;
  /** Of the surroundings, as a ratio. */
  readonly light: number;
};

export type LivenessLimits = CaptureLimits &
  MovementLimits & {
    /** How much longer one frame of a try may take to arrive than another. */
    readonly maxArrivalSpreadMs: number;
    /** Frames with a second face or none, as a share of all. */
    readonly maxBadFrameShare: number;
    readonly minFaceHeightPixels: number;
    /** Of the first frames, against the camera. */
    readonly maxStartYaw: number;
    /** What may change between frames, at once and with the time between them. */
    readonly cut: CutLimits;
    /** Distance of embeddings. */
    readonly samePersonFrontal: number;
    readonly samePersonTurned: number;
  };

export const livenessLimits: LivenessLimits = {
  ...captureLimits,
  ...movementLimits,
  /**
   * At half, a connection that stalls for three seconds fails the try (test).
   * At twice, frames nine seconds late pass (test).
   */
  maxArrivalSpreadMs: 5_000,
  /**
   * At half, a detector that misses two frames of 35 fails the try (test). At twice, every seventh frame may
   * have a second face (test).
   */
  maxBadFrameShare: 0.1,
  /**
   * At half, faces of 30 pixels are judged, whose pose and embedding are guesses; no film shows one (test).
   * 120 is about the smallest face that the page calls well framed, 0.26 of 480 pixels (test).
   */
  minFaceHeightPixels: 60,
  /**
   * At half, a head held 8° aside cannot start, although the page starts at up to 10° (test). At twice, a try
   * may start half turned, and its straight looks, which the portrait is compared with, are not straight
   * (test).
   */
  maxStartYaw: 15,
  cut: {
    /**
     * Together they allow 55° between frames at the page's pace. At half of either, nothing broke, and a jump
     * of 45° is always seen. At twice of either, a jump of 60° passes (test). The speed of people's turns has
     * not been measured.
     */
    degrees: 15,
    degreesPerSecond: 180,
    /**
     * At half of either, nothing broke.
     * At twice of either, a face that jumps by half its height passes (test).
     */
    shift: 0.2,
    shiftPerSecond: 1.2,
    /**
     * At half of either, simulated people who come closer quickly fail, four of five at 150 ms a frame
     * (test). At twice of either, a jump to 1.45 times the size passes (test).
     */
    growth: 0.12,
    growthPerSecond: 1,
    /**
     * At half, a lamp that doubles the light fails the try (test).
     * At twice, a room that is suddenly a third as bright passes (test).
     */
    light: 2.5,
  },
  /**
   * Depends on the embedding, whose author uses 0.6 for two photographs of one person. The films have 0.10 to
   * 0.21. At half, nothing broke. At twice, a stranger who takes over passes one time in four; the turned
   * looks find the rest (test).
   */
  samePersonFrontal: 0.5,
  /**
   * Turned heads are less alike: up to 0.38 over the drawn poses. At half, every film fails. At twice, a
   * stranger may take over during a turn (test).
   */
  samePersonTurned: 0.55,
};

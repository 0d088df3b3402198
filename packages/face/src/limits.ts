/**
 * What a try has to keep to. All of these numbers were set by hand; none was fitted to people. What happens at half and
 * at twice of each was looked at with two things: films of the drawn people of the test country, measured by the real
 * models ("the films", 21 to 23 frames 200 ms apart), and simulated measurements ("simulated people",
 * `test/performed-movements.ts`). Where `limits.test.ts` holds such a statement, it says so here by "(test)". "Nothing
 * broke" means in those two, and is no promise about people.
 */

/** The pace of the frames: the service judges by it, and the page takes its pictures by it. */
export type CaptureLimits = {
  readonly minFrames: number;
  readonly minFramesPerSecond: number;
  readonly maxGapMs: number;
  readonly maxStepMs: number;
};

export const captureLimits: CaptureLimits = {
  /** Half: nothing broke; too few for two looks at each of the eight colours. Twice: every film and everybody quick fails (test). */
  minFrames: 20,
  /**
   * Half: 2.2 frames a second pass, with half a second between looks in which anything can happen (test). Twice: the
   * page's own pace of 240 to 300 ms fails (test).
   */
  minFramesPerSecond: 3,
  /**
   * Between two frames, or two looks at a face. Half: one lost frame at the page's slowest pace leaves a gap of 600 ms
   * and fails the try (test). Twice: a face may be away for more than a second, time enough to exchange it (test).
   */
  maxGapMs: 700,
  /**
   * From the start, or from one movement, to the next. Half: somebody who takes five seconds for a movement fails, and
   * the page waits that long (test). Twice: 12 seconds a movement pass, time to look up and cut in a recording (test).
   */
  maxStepMs: 8_000,
};

/** What counts as a movement: the service judges by it, and the page asks for the next one by it. */
export type MovementLimits = {
  readonly turnDegrees: number;
  readonly lookUpDegrees: number;
  readonly closerRatio: number;
  /** How much of the opening of the eyes at the start has to go. */
  readonly closedEyesShare: number;
  /** By how much the distance of the lips grows, in widths of the mouth. */
  readonly openMouth: number;
  /** A movement ends when every value is back under this share of its threshold. */
  readonly backToCentreShare: number;
  /** Looks in a row that make a movement. */
  readonly framesToCount: number;
  /** Looks in a row with closed eyes that make a movement of it. */
  readonly closedEyesFrames: number;
  /** Looks at the start whose middle is taken for straight ahead. */
  readonly startFrames: number;
};

export const movementLimits: MovementLimits = {
  /**
   * A print tilted by 54° is measured as a turn of at most 8°, a drawn head turned by 27° as 25° to 29°. Half: the
   * tilted print makes turns. Twice: the drawn turn of 27° is none, and nobody passes (test).
   */
  turnDegrees: 14,
  /**
   * Half: nothing broke, and a print tilted by 32° is still no look up; a nod would count. Twice: the drawn look up by
   * 16°, measured as 18°, is too little (test).
   */
  lookUpDegrees: 9,
  /**
   * Half (1.125): nothing broke; leaning forward a little would count. Twice (1.5): the drawn 1.4 is too little (test),
   * and a face that is framed as large as the page allows would not fit into the picture.
   */
  closerRatio: 1.25,
  /**
   * Drawn eyes measure 0.28 to 0.38 when open; closed ones lose 0.36 to 0.45 of that, because this mesh does not follow
   * a lid to the end, and a head turned by 27° loses 0.14. Half: such a turn counts. Twice: no closed eye is that flat
   * in the mesh, and nobody passes.
   */
  closedEyesShare: 0.28,
  /**
   * Drawn lips measure 0.02 to 0.11 when closed, up to 0.19 when the head looks up, and grow by 0.33 to 0.71 when the
   * mouth opens. Half: speaking counts. Twice: one of three drawn mouths is not open enough.
   */
  openMouth: 0.25,
  /**
   * Half: a print tilted by hand is named `movement_missing` instead of `face_still`; it fails either way. Twice:
   * beyond 1 a movement ends while it is made, and a head that wavers at the threshold makes it twice (test).
   */
  backToCentreShare: 0.6,
  /**
   * Half: one frame measured wrongly is a movement (test). Twice: a movement held for less than a second, as in every
   * film, is none (test).
   */
  framesToCount: 2,
  /**
   * A blink is over after 0.3 seconds, one or two frames. Half: everybody who blinks makes a movement. Twice: eyes have
   * to be closed for 1.5 seconds, and who cannot see does not know for how long.
   */
  closedEyesFrames: 3,
  /**
   * Half (1): one first frame measured wrongly shifts straight ahead for the whole try (test). Twice: who begins to
   * move after the first three looks, as in every film, gets the movement into what is taken for straight ahead.
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
    /** How much longer one frame may take to arrive than another of the same try. */
    readonly maxArrivalSpreadMs: number;
    /** Frames with a second face or none, as a share of all. */
    readonly maxBadFrameShare: number;
    readonly minFaceHeightPixels: number;
    /** Of the first frames, against the camera. */
    readonly maxStartYaw: number;
    /** What may change from one frame to the next, at once and with the time between them. */
    readonly cut: CutLimits;
    /** Distance of embeddings. */
    readonly samePersonFrontal: number;
    readonly samePersonTurned: number;
  };

export const livenessLimits: LivenessLimits = {
  ...captureLimits,
  ...movementLimits,
  /** Half: a connection that stalls for three seconds fails the try (test). Twice: frames made nine seconds late pass (test). */
  maxArrivalSpreadMs: 5_000,
  /**
   * Half: a detector that misses two frames of 35 fails the try (test). Twice: a second face may be there in every
   * seventh frame (test).
   */
  maxBadFrameShare: 0.1,
  /**
   * Half: faces of 30 pixels are judged, whose pose and embedding are guesses; no film shows one (test). Twice: 120,
   * about the smallest face that the page calls well framed, 0.26 of 480 pixels (test).
   */
  minFaceHeightPixels: 60,
  /**
   * Half: who holds the head 8° aside cannot start, although the page starts at up to 10° (test). Twice: a try may
   * start half turned, and its straight looks, which are compared with the portrait, are no straight looks (test).
   */
  maxStartYaw: 15,
  cut: {
    /**
     * Both: at the page's pace they allow 55° from one frame to the next. Half of either: nothing broke, and a jump of
     * 45° is seen each time. Twice of either: a jump of 60° passes (test). How quickly people turn has not been
     * measured; there is room to be stricter.
     */
    degrees: 15,
    degreesPerSecond: 180,
    /** Both: half of either, nothing broke. Twice of either: a face that jumps by half its height passes (test). */
    shift: 0.2,
    shiftPerSecond: 1.2,
    /**
     * Both: half of either, simulated people who come closer quickly fail, four of five at 150 ms a frame (test). Twice
     * of either: a jump to 1.45 times the size passes (test).
     */
    growth: 0.12,
    growthPerSecond: 1,
    /**
     * Half: switching on a lamp that doubles the light fails the try (test). Twice: a room that is suddenly a third as
     * bright passes (test).
     */
    light: 2.5,
  },
  /**
   * Belongs to the embedding, whose author takes 0.6 for one person in two photographs. The films have 0.10 to 0.21.
   * Half: nothing broke. Twice: a stranger who takes over passes one time in four; the turned looks find the rest
   * (test).
   */
  samePersonFrontal: 0.5,
  /**
   * Turned heads are less alike: up to 0.38 over the drawn poses. Half: every film fails. Twice: a stranger may stand
   * in while the head is turned (test).
   */
  samePersonTurned: 0.55,
};

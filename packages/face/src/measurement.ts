/** In pixels of the frame. */
export type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** Mean light of an area, linear (not gamma coded), each from 0 to 1. */
export type Light = readonly [red: number, green: number, blue: number];

/** Pose and size of a head. */
export type HeadPose = {
  /** Degrees to the person's own left; the camera's picture is not mirrored, so their left is its right. */
  readonly yaw: number;
  /**
   * Degrees upwards. People hold their heads differently,
   * so only differences within one sequence are meaningful.
   */
  readonly pitch: number;
  /** Degrees of tilt towards a shoulder. */
  readonly roll: number;
  /** Height of the face, corrected for how the head is turned: it grows only when the person comes closer. */
  readonly size: number;
};

/** How far eyes and mouth are open. */
export type FaceOpenings = {
  /** Height of the opening of an eye as a share of its width, the mean of both. */
  readonly eyes: number;
  /** Distance of the lips as a share of the width of the mouth. */
  readonly mouth: number;
};

/** One face in one frame, as the models see it. Its `size` is in pixels. */
export type FaceMeasurement = HeadPose &
  FaceOpenings & {
    readonly box: Box;
    readonly faceLight: Light;
    /** Mean light of the frame outside of the face; null where the face fills the frame. */
    readonly surroundingLight: Light | null;
    /** Only in frames that were picked for an embedding. */
    readonly embedding?: readonly number[];
    /** Some points of the face in pixels, in a fixed order. For `planeResidual`; models may omit it. */
    readonly shape?: readonly (readonly [x: number, y: number])[];
    /**
     * Where the face is brightest, across the face as if it looked straight ahead, in heights of the face.
     * For `highlightDrift`; models may omit it.
     */
    readonly highlight?: number;
    /** Pattern in the middle of the face, by `patternOf`, in some frames. */
    readonly pattern?: number;
    /** Change of a turned look, by `turnChange`, in some frames. */
    readonly turnChange?: number;
  };

export type FrameMeasurement = {
  /** When the frame was taken, in milliseconds since the device showed the first colour. */
  readonly atMs: number;
  /** When its last byte arrived, in milliseconds since the challenge was given out, on the server's clock. */
  readonly receivedAtMs: number;
  /** How many faces the detector found; the largest is the one measured. */
  readonly faces: number;
  readonly width: number;
  readonly height: number;
  readonly face: FaceMeasurement | null;
};

/** Euclidean distance of two embeddings. */
export function distanceOf(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length || a.length === 0)
    throw new RangeError("Embeddings of different models cannot be compared");
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += ((a[index] ?? 0) - (b[index] ?? 0)) ** 2;
  return Math.sqrt(sum);
}

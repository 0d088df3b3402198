import type { FaceMovement } from "@assay/contract/verify-protocol";
import type { FaceMeasurement, FrameMeasurement } from "../src/measurement.ts";

/** Two embeddings of the length of one, as far apart as those of two people. */
export const alice = Array.from({ length: 128 }, (_, index) => (index % 2 === 0 ? 0.08 : -0.08));
export const bob = alice.map((value, index) => (index < 16 ? -value : value));

export type Performer = {
  readonly yaw: number;
  readonly pitch: number;
  readonly size: number;
  /** A unit of trembling in every value, from a person and a model. */
  readonly tremble: number;
};

/** What the models would measure while a person makes the movements, without any model. */
export function performed(
  movements: readonly FaceMovement[],
  { yaw, pitch, size, tremble }: Performer,
  random: () => number,
  frameMs = 150,
): FrameMeasurement[] {
  const shake = (by: number) => (random() - 0.5) * 2 * by * tremble;
  type Step = { yaw: number; pitch: number; zoom: number; eyes: number; mouth: number };
  const steps: Step[] = [];
  const stay: Step = { yaw: 0, pitch: 0, zoom: 1, eyes: 0.33, mouth: 0.05 };
  const reach: Record<FaceMovement, Step> = {
    turn_left: { ...stay, yaw: 26 },
    turn_right: { ...stay, yaw: -26 },
    look_up: { ...stay, pitch: 17 },
    come_closer: { ...stay, zoom: 1.45 },
    close_eyes: { ...stay, eyes: 0.06, pitch: -4 },
    open_mouth: { ...stay, mouth: 0.6, zoom: 1.08 },
  };
  for (let count = 0; count < 4; count++) steps.push(stay);
  for (const movement of movements) {
    for (const share of [0.5, 0.9, 1, 0.9, 0.5, 0, 0]) {
      const goal = reach[movement];
      const on = (key: keyof Step) => stay[key] + (goal[key] - stay[key]) * share;
      steps.push({
        yaw: on("yaw"),
        pitch: on("pitch"),
        zoom: on("zoom"),
        eyes: on("eyes"),
        mouth: on("mouth"),
      });
    }
  }
  for (let count = 0; count < 3; count++) steps.push(stay);
  return steps.map((step, index): FrameMeasurement => {
    const height = size * step.zoom * (1 + shake(0.01));
    const face: FaceMeasurement = {
      box: { x: 300 - height / 2 + shake(4), y: 220 - height / 2 + shake(4), width: height, height },
      yaw: yaw + step.yaw + shake(1.5),
      pitch: pitch + step.pitch + shake(1.2),
      roll: shake(2),
      size: height,
      eyes: step.eyes,
      mouth: step.mouth,
      faceLight: [0.4, 0.3, 0.25],
      surroundingLight: [0.3, 0.3, 0.3],
      embedding: alice.map((value) => value + shake(0.01)),
    };
    const atMs = (index + 1) * frameMs;
    return { atMs, receivedAtMs: atMs + 400 + shake(100), faces: 1, width: 640, height: 480, face };
  });
}

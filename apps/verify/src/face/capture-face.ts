import { type FaceColour, verifySocketLimits } from "@assay/contract/verify-protocol";
import type { FaceCapture } from "@assay/device/drive-device";
import { colourAt, msToNextColour } from "@assay/face/colour-schedule";
import { captureLimits } from "@assay/face/limits";
import { Snapshot } from "./camera.ts";
import type { SeenFace } from "./framing.ts";
import { type FacePrompt, frameEveryMs, PromptSchedule } from "./prompt-schedule.ts";

/** What the screen shows at this moment of a capture. */
export type CaptureView = {
  readonly colour: FaceColour;
  readonly prompt: FacePrompt;
  /** Counted from 1, and 0 before the first. */
  readonly movement: number;
  readonly movements: number;
};

/** What the guide sees at this moment: `undefined` without guidance, `null` without a face. */
type LookAtFace = () => Promise<SeenFace | null | undefined>;

/**
 * At half of this the smallest well-framed face has 62 pixels, the service's minimum.
 * The benchmark uses this size.
 */
const frameHeightPixels = 480;
/**
 * Time reserved at the end for the last frames to arrive. Set by hand. Shorter: a slow connection delivers
 * after the deadline. Longer: people are rushed needlessly.
 */
const reserveMs = 1_500;
/**
 * A few more frames than the service's minimum, because too large ones are dropped.
 * Set by hand; guided people take about 50.
 */
const minFrames = captureLimits.minFrames + 4;

/** Shows one instruction after the other in changing light, and sends still pictures all the while. */
export function faceCapture(
  video: HTMLVideoElement,
  lookAtFace: LookAtFace,
  show: (view: CaptureView) => void,
): FaceCapture {
  return async ({ movements, colours, colourMs, endsAtMs }, sendFrame, signal) => {
    const snapshot = new Snapshot(frameHeightPixels, "to_send");
    const schedule = new PromptSchedule(movements, endsAtMs - Date.now() - reserveMs);
    const view = (atMs: number): CaptureView => ({
      colour: colourAt({ colours, colourMs }, atMs),
      prompt: schedule.prompt,
      movement: schedule.movement,
      movements: movements.length,
    });
    show(view(0));
    await painted();
    const beganMs = performance.now();
    const sinceBegin = () => performance.now() - beganMs;

    let timer: ReturnType<typeof setTimeout> | undefined;
    const nextColour = () => {
      timer = setTimeout(
        () => {
          show(view(sinceBegin()));
          nextColour();
        },
        msToNextColour({ colours, colourMs }, sinceBegin()),
      );
    };
    nextColour();

    let looking = false;
    let ended = false;
    let frames = 0;
    try {
      while (!signal.aborted && frames < verifySocketLimits.faceFrames) {
        const atMs = sinceBegin();
        if (!snapshot.take(video)) throw new Error("The camera gives no picture");
        const sending = snapshot.jpeg();
        if (!looking) {
          looking = true;
          void lookAtFace().then((face) => {
            looking = false;
            if (ended) return;
            schedule.look(atMs, face);
            show(view(sinceBegin()));
          });
        }
        const jpeg = await sending;
        if (jpeg !== null && !signal.aborted) sendFrame(jpeg, atMs);
        frames += 1;
        if (schedule.isOver && frames >= minFrames) return;
        const everyMs = frameEveryMs(verifySocketLimits.faceFrames - frames, schedule.maxLeftMs(atMs));
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs + everyMs - sinceBegin())));
      }
    } finally {
      ended = true;
      clearTimeout(timer);
    }
  };
}

/** Resolves once the browser has painted what was shown last. */
function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}

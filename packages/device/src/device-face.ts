import { isForStillHead, verifySocketLimits as limits } from "@assay/contract/verify-protocol";
import { connectAnew, finish } from "./device-link.ts";
import { deviceLimits } from "./device-rules.ts";
import type { DeviceInput, DeviceState, DeviceStep } from "./device-state.ts";
import { also, type Handlers, isCamera, may, say, stay } from "./device-step.ts";

/** Handlers for results of the camera. */
export const onCamera: Pick<Handlers<DeviceInput, "kind">, "frame" | "capture_over" | "capture_failed"> = {
  frame: (state, { job, jpeg, atMs }) => {
    const { capture } = state;
    if (capture?.job !== job || !may(state, "face_frame")) return stay(state);
    const bytes = capture.bytes + jpeg.length;
    const fits =
      jpeg.length > 0 &&
      jpeg.length <= limits.faceFrameBytes &&
      capture.frames < limits.faceFrames &&
      bytes <= limits.faceBytes;
    if (!fits) return stay(state);
    return stay(
      { ...state, capture: { job, frames: capture.frames + 1, bytes } },
      { kind: "send_frame", jpeg, atMs },
    );
  },
  capture_over: (state, { job, attestation }) =>
    state.capture?.job === job
      ? say(
          { ...state, capture: null, faceSource: null },
          { type: "face_done", ...(attestation == null ? {} : { attestation }) },
        )
      : stay(state),
  capture_failed: (state, { job }) => {
    if (state.capture?.job !== job) return stay(state);
    return state.plan === null ? stopFace(state) : finish(state, { kind: "problem", problem: "camera" });
  },
};

export function takeUpChallenge(state: DeviceState, nowMs: number): DeviceStep {
  const { challenge } = state;
  if (challenge === null) return stay(state);
  const leftMs = challenge.endsAtMs - nowMs;
  // If the person has switched between turning and not turning the head,
  // wait for a challenge of the other kind.
  const fits = isForStillHead(challenge.movements) === (state.faceSource === "still_camera");
  if (isCamera(state.faceSource) && fits && (challenge.fresh || leftMs >= deviceLimits.leastTimeForFaceMs)) {
    const { fresh: _, ...asked } = challenge;
    const job = state.nextJob;
    return stay(
      { ...state, nextJob: job + 1, challenge: null, capture: { job, frames: 0, bytes: 0 } },
      { kind: "start_capture", job, challenge: asked },
    );
  }
  return stay(
    { ...state, faceWaits: true },
    { kind: "set_timer", timer: "challenge", ms: Math.max(0, leftMs) + deviceLimits.runOutMarginMs },
  );
}

/** Ends what was started without a verdict, so that no try is used. */
export function stopFace(state: DeviceState): DeviceStep {
  const left: DeviceState = { ...state, faceSource: null };
  if (state.capture === null) return stay(left);
  // The frames of the next try must not be added to those of this one.
  return also(stay({ ...left, capture: null }, { kind: "abort_capture" }), connectAnew);
}

import type { FaceMovement } from "@assay/contract/verify-socket";
import type { FaceCapture } from "./device-session.ts";

export type FacePrompt = "ahead" | FaceMovement;

const longestSidePixels = 640;
/** About five a second is what the judge expects; four movements then stay below the most frames that the service takes. */
const frameEveryMs = 205;
/** Each movement begins and ends with a look straight ahead. */
const aheadMs = 1_200;
const movementMs = 2_400;
/** Left over for the last frames to arrive. */
const reserveMs = 1_500;

export async function openCamera(): Promise<MediaStream> {
  return await navigator.mediaDevices.getUserMedia({
    audio: false,
    video: { facingMode: "user", width: { ideal: 1280 }, height: { ideal: 960 } },
  });
}

/** Shows one movement after the other and takes still pictures all the while. */
export function faceCapture(video: HTMLVideoElement, onPrompt: (prompt: FacePrompt) => void): FaceCapture {
  return async (movements, deadlineMs, sendFrame) => {
    const canvas = document.createElement("canvas");
    const scale = Math.min(1, longestSidePixels / Math.max(video.videoWidth, video.videoHeight, 1));
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    const context = canvas.getContext("2d");
    if (context === null || canvas.width === 0) return;
    const prompts = [
      { prompt: "ahead" as FacePrompt, ms: aheadMs },
      ...movements.flatMap((movement) => [
        { prompt: movement as FacePrompt, ms: movementMs },
        { prompt: "ahead" as FacePrompt, ms: aheadMs },
      ]),
    ];
    const wantedMs = prompts.reduce((sum, { ms }) => sum + ms, 0);
    const pace = Math.min(1, Math.max(0, deadlineMs - reserveMs) / wantedMs);
    const begin = performance.now();
    let endMs = 0;
    let nextFrameMs = 0;
    for (const { prompt, ms } of prompts) {
      onPrompt(prompt);
      endMs += ms * pace;
      while (performance.now() - begin < endMs) {
        context.drawImage(video, 0, 0, canvas.width, canvas.height);
        const atMs = performance.now() - begin;
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
        if (blob !== null) sendFrame(new Uint8Array(await blob.arrayBuffer()), atMs);
        nextFrameMs = Math.max(nextFrameMs + frameEveryMs, performance.now() - begin);
        const waitMs = nextFrameMs - (performance.now() - begin);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  };
}

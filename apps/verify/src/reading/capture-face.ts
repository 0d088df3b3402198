import type { FaceMovement } from "@assay/contract/verify-socket";
import type { FaceCapture } from "./device-session.ts";

export type FacePrompt = "ahead" | FaceMovement;

const frameEveryMs = 180;
const longestSidePixels = 640;
/** Left over for the last frames to arrive. */
const reserveMs = 1_500;
const mostMsPerMovement = 3_200;

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
    const prompts: readonly FacePrompt[] = ["ahead", ...movements, "ahead"];
    const share = Math.min((deadlineMs - reserveMs) / prompts.length, mostMsPerMovement);
    const begin = performance.now();
    // Never more pictures than the service takes: it would close the socket.
    const everyMs = Math.max(frameEveryMs, (share * prompts.length) / 75);
    for (const [index, prompt] of prompts.entries()) {
      onPrompt(prompt);
      while (performance.now() - begin < share * (index + 1)) {
        context.drawImage(video, 0, 0, canvas.width, canvas.height);
        const atMs = performance.now() - begin;
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
        if (blob !== null) sendFrame(new Uint8Array(await blob.arrayBuffer()), atMs);
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    }
  };
}

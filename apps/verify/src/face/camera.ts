import { isCameraKeptFromFrame } from "../device/display-context.ts";

/** Why there is no picture. */
export type CameraProblem = "framed" | "denied" | "missing" | "in_use" | "failed";

/** The front camera for a face, the back one for a document; a device with one camera uses that. */
export async function openCamera(facing: "user" | "environment"): Promise<MediaStream | CameraProblem> {
  if (isCameraKeptFromFrame()) return "framed";
  // Browsers leave the camera out altogether where the page did not come over a secure connection.
  if (navigator.mediaDevices === undefined) return "failed";
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: false,
      video: { facingMode: facing, width: { ideal: 1280 }, height: { ideal: 960 } },
    });
  } catch (error) {
    return problemOf(error instanceof DOMException ? error.name : "");
  }
}

export function problemOf(errorName: string): CameraProblem {
  switch (errorName) {
    case "NotAllowedError":
    case "SecurityError":
      return "denied";
    case "NotFoundError":
    case "OverconstrainedError":
      return "missing";
    case "NotReadableError":
    case "AbortError":
      return "in_use";
    default:
      return "failed";
  }
}

export function closeCamera(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

/**
 * While the camera is in use: keeps the screen lit (wake lock) where the browser can, and reports that the
 * page was hidden or the camera has ended. The returned function ends that.
 */
export function attendCamera(stream: MediaStream, onHidden: () => void, onEnded: () => void): () => void {
  const lock = navigator.wakeLock?.request("screen").catch(() => null);
  const listening = new AbortController();
  const { signal } = listening;
  const onVisibility = () => {
    if (document.visibilityState === "hidden") onHidden();
  };
  document.addEventListener("visibilitychange", onVisibility, { signal });
  for (const track of stream.getVideoTracks()) track.addEventListener("ended", onEnded, { signal });
  return () => {
    listening.abort();
    void lock?.then((held) => held?.release());
  };
}

/**
 * The part of the camera's picture that the page shows and sends: upright, three by four, from the middle.
 */
type Crop = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

export function uprightCrop(width: number, height: number): Crop {
  const cropWidth = Math.min(width, height * 0.75);
  const cropHeight = Math.min(height, cropWidth / 0.75);
  return { x: (width - cropWidth) / 2, y: (height - cropHeight) / 2, width: cropWidth, height: cropHeight };
}

export class Snapshot {
  readonly #canvas = document.createElement("canvas");
  readonly #context: CanvasRenderingContext2D | null;

  constructor(height: number, use: "to_read" | "to_send") {
    this.#canvas.width = height * 0.75;
    this.#canvas.height = height;
    this.#context = this.#canvas.getContext("2d", { alpha: false, willReadFrequently: use === "to_read" });
  }

  /** False while the camera has not given a picture yet. */
  take(video: HTMLVideoElement): boolean {
    if (this.#context === null || video.videoWidth === 0) return false;
    const { x, y, width, height } = uprightCrop(video.videoWidth, video.videoHeight);
    this.#context.drawImage(video, x, y, width, height, 0, 0, this.#canvas.width, this.#canvas.height);
    return true;
  }

  pixels(): ImageData | null {
    return this.#context?.getImageData(0, 0, this.#canvas.width, this.#canvas.height) ?? null;
  }

  async jpeg(): Promise<Uint8Array | null> {
    const blob = await new Promise<Blob | null>((resolve) =>
      this.#canvas.toBlob(resolve, "image/jpeg", 0.85),
    );
    return blob === null ? null : new Uint8Array(await blob.arrayBuffer());
  }
}

import { encode } from "jpeg-js";
import type { RgbPicture } from "../../apps/server/test/support/steered-camera.ts";
import type { Engine } from "./engine.ts";

/**
 * Replaces the browser's camera, which shows a built-in picture, by a canvas. `window.shown` takes a JPEG.
 */
const script = (width: number, height: number) => `(() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: ${width}, height: ${height} });
  const context = canvas.getContext("2d");
  context.fillRect(0, 0, canvas.width, canvas.height);
  window.shown = async (text) => {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    context.drawImage(picture, 0, 0);
  };
  // A canvas without drawing gives no frames.
  setInterval(() => context.fillRect(0, 0, 1, 1), 60);
  window.canvasCamera = { canvas, context };
  // On the object itself, WebKit's garbage collection would remove it.
  MediaDevices.prototype.getUserMedia = async () => canvas.captureStream(15);
})()`;

export type CanvasCamera = {
  readonly width: number;
  readonly height: number;
  /** Its picture from the next evaluation in the page on. */
  show(picture: RgbPicture): void;
  /** Like that of the engine, with the picture to show. */
  evaluate<T>(expression: string): Promise<T>;
};

/** A camera that shows given pictures, in the current page. */
export async function installCamera(
  engine: Engine,
  { width, height } = { width: 480, height: 360 },
): Promise<CanvasCamera> {
  await engine.evaluate(script(width, height));
  let latest: string | null = null;
  return {
    width,
    height,
    show({ data }) {
      const rgba = Buffer.alloc(width * height * 4, 255);
      for (let from = 0, to = 0; from < data.length; from += 3, to += 4)
        rgba.set(data.subarray(from, from + 3), to);
      latest = encode({ width, height, data: rgba }, 92).data.toString("base64");
    },
    evaluate<T>(expression: string) {
      const shown = latest === null ? "null" : `window.shown(${JSON.stringify(latest)})`;
      return engine.evaluate<T>(`(${shown}, ${expression})`);
    },
  };
}

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Three bytes a pixel, row by row. */
export type RgbPicture = {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
};

export type SteeredCamera = {
  readonly width: number;
  readonly height: number;
  /** For a browser with this camera only; pages may use it without a question. */
  readonly launchArguments: readonly string[];
  /** What the camera sees from now on. */
  show(picture: RgbPicture): void;
  close(): void;
};

/**
 * A camera for Chromium that shows what the test draws. Chromium plays a film of raw frames in a loop and
 * reads the file each time, so overwriting its only frame changes the picture. Raw frames have one length; a
 * torn read shows parts of two pictures.
 */
export function createSteeredCamera(
  size: { readonly width: number; readonly height: number } = { width: 480, height: 360 },
): SteeredCamera {
  const { width, height } = size;
  const folder = mkdtempSync(join(tmpdir(), "assay-camera-"));
  const file = join(folder, "camera.y4m");
  const descriptor = openSync(file, "w");
  const header = Buffer.from(
    `YUV4MPEG2 W${width} H${height} F${framesPerSecond}:1 Ip A1:1 C420jpeg\nFRAME\n`,
  );
  const frame = Buffer.alloc((width * height * 3) / 2, 128);
  writeSync(descriptor, header, 0, header.length, 0);
  const write = () => writeSync(descriptor, frame, 0, frame.length, header.length);
  write();
  return {
    width,
    height,
    launchArguments: [
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-video-capture=${file}`,
    ],
    show(picture) {
      if (picture.width !== width || picture.height !== height)
        throw new RangeError(`The camera's pictures are ${width} by ${height}`);
      toYuv(picture, frame);
      write();
    },
    close() {
      closeSync(descriptor);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** More than any page takes, and few enough to cost a busy machine little. */
const framesPerSecond = 15;

/** Brightness of every pixel, then two differences of colour for every four (BT.601, studio range). */
function toYuv({ width, height, data }: RgbPicture, frame: Uint8Array): void {
  let luma = 0;
  let blueAt = width * height;
  let redAt = blueAt + blueAt / 4;
  const row = width * 3;
  for (let y = 0; y < height; y++) {
    for (let x = 0, at = y * row; x < width; x++, at += 3)
      frame[luma++] =
        16.5 + 0.256788 * (data[at] ?? 0) + 0.504129 * (data[at + 1] ?? 0) + 0.097906 * (data[at + 2] ?? 0);
    if (y % 2 === 1) continue;
    for (let x = 0, at = y * row; x < width; x += 2, at += 6) {
      const red = sumOfFour(data, at, row);
      const green = sumOfFour(data, at + 1, row);
      const blue = sumOfFour(data, at + 2, row);
      frame[blueAt++] = 128.5 - 0.037056 * red - 0.072748 * green + 0.109804 * blue;
      frame[redAt++] = 128.5 + 0.109804 * red - 0.091947 * green - 0.017857 * blue;
    }
  }
}

function sumOfFour(data: Uint8Array, at: number, row: number): number {
  return (data[at] ?? 0) + (data[at + 3] ?? 0) + (data[at + row] ?? 0) + (data[at + row + 3] ?? 0);
}

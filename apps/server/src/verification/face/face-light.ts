import { squareWithSurroundings, surroundingsPixels } from "@assay/face/face-square";
import type { Box, Light } from "@assay/face/measurement";
import { patternPixels } from "@assay/face/screen-pattern";
import type { DecodedPicture } from "./decode-picture.ts";

const linearOf = Float64Array.from({ length: 256 }, (_, value) => {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
});

/** A smaller share of the picture is not measured. Chosen by hand. */
const minAreaShare = 0.005;

/** The middle of the face is skin in every pose. Around it, hair and clothes are left out. */
export function lightOf(
  { rgb, width, height }: DecodedPicture,
  box: Box,
): { readonly faceLight: Light; readonly surroundingLight: Light | null } {
  const face = [0, 0, 0, 0];
  const surrounding = [0, 0, 0, 0];
  const step = Math.max(1, Math.round(Math.sqrt((width * height) / 40_000)));
  for (let y = 0; y < height; y += step) {
    for (let x = 0; x < width; x += step) {
      const across = Math.abs((x - box.x) / box.width - 0.5);
      const along = Math.abs((y - box.y) / box.height - 0.5);
      const sum = across < 0.3 && along < 0.35 ? face : across > 0.75 || along > 0.85 ? surrounding : null;
      if (sum === null) continue;
      for (let channel = 0; channel < 3; channel++)
        sum[channel] = (sum[channel] ?? 0) + (linearOf[rgb[(y * width + x) * 3 + channel] ?? 0] ?? 0);
      sum[3] = (sum[3] ?? 0) + 1;
    }
  }
  const mean = ([red = 0, green = 0, blue = 0, count = 1]: number[]): Light => [
    red / count,
    green / count,
    blue / count,
  ];
  const enough = ([, , , count = 0]: number[]) => count * step * step >= minAreaShare * width * height;
  return {
    faceLight: enough(face) ? mean(face) : [0, 0, 0],
    surroundingLight: enough(surrounding) ? mean(surrounding) : null,
  };
}

/** Brightness around a point, not linear, from 0 to 255; null at the edge of the picture. */
export function lightAround({ rgb, width, height }: DecodedPicture, x: number, y: number): number | null {
  const [column, row] = [Math.round(x), Math.round(y)];
  if (!(column >= 1 && row >= 1 && column < width - 1 && row < height - 1)) return null;
  let sum = 0;
  for (let down = -1; down <= 1; down++)
    for (let across = -1; across <= 1; across++) {
      const at = ((row + down) * width + column + across) * 3;
      sum += brightnessAt(rgb, at);
    }
  return sum / 9;
}

/** The square in the middle of a face in which patterns are looked for; null where the face is smaller. */
export function middleOfFace({ rgb, width, height }: DecodedPicture, box: Box): Float64Array | null {
  const side = patternPixels;
  const left = Math.round(box.x + (box.width - side) / 2);
  const top = Math.round(box.y + (box.height - side) / 2);
  if (!(box.width >= side && box.height >= side && left >= 0 && top >= 0)) return null;
  if (left + side > width || top + side > height) return null;
  return Float64Array.from({ length: side * side }, (_, pixel) =>
    brightnessAt(rgb, ((top + Math.floor(pixel / side)) * width + left + (pixel % side)) * 3),
  );
}

/** Not linear, from 0 to 255. */
function brightnessAt(rgb: Uint8Array, at: number): number {
  return 0.2126 * (rgb[at] ?? 0) + 0.7152 * (rgb[at + 1] ?? 0) + 0.0722 * (rgb[at + 2] ?? 0);
}

/** Samples across a pixel of the square. Too few: in large faces single pixels stand for many. */
const maxLooks = 8;

/** Brightness of a face and its surroundings for `turnChange`. NaN outside of the picture. */
export function surroundingsAt({ rgb, width, height }: DecodedPicture, face: Box): Float32Array {
  const { left, top, step } = squareWithSurroundings(face);
  const looks = Math.min(Math.max(Math.ceil(step), 1), maxLooks);
  return Float32Array.from({ length: surroundingsPixels ** 2 }, (_, pixel) => {
    let [sum, seen] = [0, 0];
    for (let look = 0; look < looks * looks; look++) {
      const across = (pixel % surroundingsPixels) + ((look % looks) + 0.5) / looks;
      const down = Math.floor(pixel / surroundingsPixels) + (Math.floor(look / looks) + 0.5) / looks;
      const [x, y] = [Math.floor(left + across * step), Math.floor(top + down * step)];
      if (!(x >= 0 && y >= 0 && x < width && y < height)) continue;
      const at = (y * width + x) * 3;
      sum += brightnessAt(rgb, at);
      seen++;
    }
    return sum / seen;
  });
}

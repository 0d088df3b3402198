/**
 * Draws the turned heads of `src/node/test-country/portraits.ts` again, byte for byte, some seconds each:
 *
 *   node packages/emrtd/drawing/render-poses.ts
 */
import { writeFileSync } from "node:fs";
import { encode } from "jpeg-js";
import { posedPeople, poses } from "../src/node/test-country/portraits.ts";
import { renderPerson } from "./render-portrait.ts";

const [width, height] = [240, 320];
const folder = new URL("../src/node/test-country/pictures/poses/", import.meta.url);

for (const person of posedPeople) {
  for (const [yawDegrees, pitchDegrees] of poses) {
    const rgb = renderPerson(person, {
      yawDegrees,
      pitchDegrees,
      width,
      height,
      samples: [
        [0.25, 0.3],
        [0.75, 0.7],
      ],
    });
    const data = new Uint8Array(width * height * 4).fill(255);
    for (let pixel = 0; pixel < width * height; pixel++)
      data.set(rgb.subarray(pixel * 3, pixel * 3 + 3), pixel * 4);
    writeFileSync(
      new URL(`${person}_${yawDegrees}_${pitchDegrees}.jpg`, folder),
      encode({ data, width, height }, 82).data,
    );
  }
}

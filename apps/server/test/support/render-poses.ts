/**
 * Draws the turned heads of `@assay/emrtd/node/test-country/portraits` again, about ten seconds each:
 *
 *   node apps/server/test/support/render-poses.ts
 */
import { writeFileSync } from "node:fs";
import { POSED_PEOPLE, POSES } from "@assay/emrtd/node/test-country/portraits";
import { renderPerson } from "@assay/emrtd/node/test-country/portraits/render-portrait";
import { encode } from "jpeg-js";

const [width, height] = [240, 320];
const folder = new URL("../../../../packages/emrtd/src/node/test-country/portraits/poses/", import.meta.url);

for (const person of POSED_PEOPLE) {
  for (const [yawDegrees, pitchDegrees] of POSES) {
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

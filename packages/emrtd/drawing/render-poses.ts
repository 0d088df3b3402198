/**
 * Draws the turned heads of `src/node/test-country/portraits.ts` again, byte for byte, some seconds each:
 *
 *   node packages/emrtd/drawing/render-poses.ts
 */
import { writeFileSync } from "node:fs";
import { encode } from "jpeg-js";
import { expressions, type Pose, posedPeople, poses } from "../src/node/test-country/portraits.ts";
import { type Expression, renderPerson } from "./render-portrait.ts";

const [width, height] = [240, 320];
const folder = new URL("../src/node/test-country/pictures/poses/", import.meta.url);

for (const person of posedPeople) {
  for (const pose of poses) draw(person, pose, `${person}_${pose[0]}_${pose[1]}`);
  for (const [name, expression] of Object.entries(expressions))
    draw(person, [0, 0], `${person}_${name}`, expression);
}

function draw(person: string, [yawDegrees, pitchDegrees]: Pose, name: string, expression?: Expression): void {
  const rgb = renderPerson(person, {
    yawDegrees,
    pitchDegrees,
    width,
    height,
    samples: [
      [0.25, 0.3],
      [0.75, 0.7],
    ],
    ...(expression === undefined ? {} : { expression }),
  });
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++)
    data.set(rgb.subarray(pixel * 3, pixel * 3 + 3), pixel * 4);
  writeFileSync(new URL(`${name}.jpg`, folder), encode({ data, width, height }, 82).data);
}

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { after } from "node:test";
import { openBrowser, openPage } from "./browser.ts";
import { createSteeredCamera, type RgbPicture } from "./steered-camera.ts";

type Rgb = readonly [number, number, number];

const camera = createSteeredCamera();
after(() => camera.close());
const browser = await openBrowser(camera.launchArguments);
const server = createServer((_, response) => {
  response
    .setHeader("content-type", "text/html")
    .end("<!doctype html><title>Camera</title><video muted></video>");
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

function halves(left: Rgb, right: Rgb): RgbPicture {
  const { width, height } = camera;
  const data = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++)
    data.set(pixel % width < width / 2 ? left : right, pixel * 3);
  return { width, height, data };
}

/** The middle of either half, in the browser, whose globals the server's types do not know. */
const lookAtHalves = `(() => {
  const video = document.querySelector("video");
  const canvas = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight });
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  return [0.25, 0.75].map((across) =>
    [...context.getImageData(Math.floor(across * canvas.width), canvas.height / 2, 1, 1).data].slice(0, 3));
})()`;

test("a page that films with the camera sees what was shown last, in its colours and the right way round", async () => {
  const { page, problems } = await openPage(browser, url);
  await page.goto(url);
  const size = await page.evaluate<number[]>(`(async () => {
    const video = document.querySelector("video");
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "user" } });
    await video.play();
    return [video.videoWidth, video.videoHeight];
  })()`);
  assert.deepEqual(size, [camera.width, camera.height]);
  const pictures: (readonly [Rgb, Rgb])[] = [
    [
      [255, 0, 0],
      [0, 0, 255],
    ],
    [
      [0, 255, 0],
      [255, 255, 255],
    ],
    [
      [200, 150, 120],
      [0, 0, 0],
    ],
    [
      [255, 0, 0],
      [0, 0, 255],
    ],
  ];
  for (const shown of pictures) {
    camera.show(halves(...shown));
    const isShown = (seen: number[][]) =>
      shown.every((colour, side) =>
        colour.every((value, channel) => Math.abs(value - (seen[side]?.[channel] ?? -100)) < 8),
      );
    let seen = await page.evaluate<number[][]>(lookAtHalves);
    for (let look = 0; look < 1000 && !isShown(seen); look++) {
      await page.waitForTimeout(50);
      seen = await page.evaluate<number[][]>(lookAtHalves);
    }
    assert.ok(isShown(seen), `${JSON.stringify(shown)} was shown, ${JSON.stringify(seen)} is seen`);
  }
  assert.deepEqual(problems, []);
});

test("a picture of another size is refused", () => {
  assert.throws(() => camera.show({ width: 2, height: 2, data: new Uint8Array(12) }), RangeError);
});

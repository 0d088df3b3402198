import assert from "node:assert/strict";
import test, { after } from "node:test";
import type { Page } from "playwright-core";
import { createPartner, expectData } from "../../support/api.ts";
import { checkAccessibility, keepLooks, openBrowser, openPage } from "../../support/browser.ts";
import { startTestService } from "../../support/service.ts";
import { createSteeredCamera } from "../../support/steered-camera.ts";
import { agree, heading, untilTold } from "../../support/verify-page.ts";

const camera = createSteeredCamera({ width: 1280, height: 960 });
after(() => camera.close());
const { url, api } = await startTestService();
const browser = await openBrowser(camera.launchArguments);
const partner = await createPartner(api);

type Pose = { angle: number; scale: number; yaw: number; x: number; y: number; glare: number };

/** What a camera sees of a moved, turned, tilted and lit picture, with three bytes a pixel. */
const filmed = `async ({ address, poses, width, height }) => {
  const picture = new Image();
  picture.src = address;
  await picture.decode();
  const flat = new OffscreenCanvas(1000, Math.round(1000 * picture.naturalHeight / picture.naturalWidth));
  flat.getContext("2d").drawImage(picture, 0, 0, flat.width, flat.height);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return poses.map(({ angle, scale, yaw, x, y, glare }) => {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#5a4a3c";
    context.fillRect(0, 0, width, height);
    context.translate(x, y);
    context.rotate(angle);
    for (let column = 0; column < flat.width; column += 2) {
      const near = (1 + yaw * (column / flat.width - 0.5)) * scale;
      context.drawImage(flat, column, 0, 2, flat.height, (column - flat.width / 2) * scale, -flat.height / 2 * near, 2 * scale + 0.5, flat.height * near);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    const lamp = context.createRadialGradient(x + 150, y - 60, 10, x + 150, y - 60, 260);
    lamp.addColorStop(0, "rgba(255,255,255," + glare + ")");
    lamp.addColorStop(1, "rgba(255,255,255,0)");
    context.fillStyle = lamp;
    context.fillRect(0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    let text = "";
    for (let at = 0; at < data.length; at += 4) text += String.fromCharCode(data[at], data[at + 1], data[at + 2]);
    return btoa(text);
  });
}`;

async function film(page: Page, address: string, poses: readonly Pose[]) {
  const { width, height } = camera;
  const frames = await page.evaluate<string[]>(
    `(${filmed})(${JSON.stringify({ address, poses, width, height })})`,
  );
  return frames.map((frame) => ({ width, height, data: new Uint8Array(Buffer.from(frame, "base64")) }));
}

const poses: readonly Pose[] = Array.from({ length: 5 }, (_, n) => ({
  angle: 0.05 * Math.sin(n * 1.7),
  scale: 1.05 + 0.04 * n,
  yaw: 0.08 * Math.cos(n * 2.1),
  x: 640 + 15 * Math.sin(n * 2.3),
  y: 480 + 12 * Math.cos(n * 1.3),
  glare: 0.35 + 0.05 * n,
}));

/** A person who agreed, before the list of test passports. */
async function comeToTheDocuments() {
  const session = expectData(await partner.api.post("/v1/sessions"), 201);
  const { page, problems } = await openPage(browser, url);
  page.setDefaultTimeout(60_000);
  await page.goto(session.verification_url);
  await agree(page);
  await page.getByRole("button", { name: "Choose a test passport" }).click();
  await page.getByRole("radio", { name: /^Valid passport A/ }).check();
  return { page, problems, session };
}

async function dataPage(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Show its page" }).click();
  return (await page.getByTestId("data-page").getAttribute("src")) ?? "";
}

test("the camera films the page of a test passport, its key opens the chip, and the session succeeds with nothing typed", async () => {
  const { page, problems, session } = await comeToTheDocuments();
  const frames = await film(page, await dataPage(page), poses);
  await checkAccessibility(page);
  const [first] = frames;
  assert.ok(first !== undefined);
  camera.show({ ...first, data: new Uint8Array(first.data.length).fill(4) });
  const worker = page.waitForEvent("worker");
  await page.getByRole("button", { name: "Scan with the camera" }).click();
  // In the dark nothing is seen, and a hint says what to do. The dialog is complete for a screen reader.
  await page
    .getByTestId("zone-hint")
    .filter({ hasText: /light|lines/ })
    .waitFor();
  await checkAccessibility(page);
  // Within the picture, and as wide as it allows.
  const [place, picture] = await Promise.all(
    [
      page.getByTestId("zone-place").locator("rect").first(),
      page.getByTestId("zone-scan").locator("video"),
    ].map((each) => each.boundingBox()),
  );
  assert.ok(place && picture && place.x > picture.x && place.y > picture.y, "no place to hold it is shown");
  assert.ok(place.width < picture.width && place.height < picture.height);
  assert.doesNotMatch((await page.getByTestId("zone-place").getAttribute("class")) ?? "", /opacity-0/);
  await keepLooks(page, "verify-scan");

  // The thread that sees the document has no way to the network.
  const reader = await worker;
  const reached = await reader.evaluate<string>(
    `fetch("${url}/verify").then(() => "reached", () => "refused")`,
  );
  assert.equal(reached, "refused");

  const filming = { over: false };
  const filmed = (async () => {
    for (let n = 0; !filming.over; n++) {
      const frame = frames[n % frames.length];
      if (frame !== undefined) camera.show(frame);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  await heading(page, "Now show your face").waitFor();
  filming.over = true;
  await filmed;
  assert.equal(await page.locator("video").count(), 0);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await heading(page, "You are verified").waitFor();
  const { status, nfc_tries_used } = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
  assert.deepEqual([status, nfc_tries_used], ["succeeded", 1]);
  assert.deepEqual(
    problems.filter((problem) => !/connect-src|default-src|Failed to fetch/.test(problem)),
    [],
  );
  await page.context().close();
});

test("a photo is read too; one without the lines is told of, and typing stays there", async () => {
  const { page } = await comeToTheDocuments();
  const address = await dataPage(page);
  const jpeg = await page.evaluate<string>(`(async () => {
    const picture = new Image();
    picture.src = ${JSON.stringify(address)};
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [1600, 1200];
    const context = canvas.getContext("2d");
    context.fillStyle = "#444";
    context.fillRect(0, 0, 1600, 1200);
    context.rotate(-0.03);
    context.drawImage(picture, 150, 150, 1250, 880);
    return canvas.toDataURL("image/jpeg", 0.85).split(",")[1];
  })()`);
  const photo = (name: string, base64: string) => ({
    name,
    mimeType: "image/jpeg",
    buffer: Buffer.from(base64, "base64"),
  });
  await page.locator('input[type="file"]').setInputFiles(photo("broken.jpg", "AAAA"));
  await untilTold(page, "The lines cannot be read in this photo.");
  await page.locator('input[type="file"]').setInputFiles(photo("passport.jpg", jpeg));
  await heading(page, "Now show your face").waitFor();
  await page.context().close();
});

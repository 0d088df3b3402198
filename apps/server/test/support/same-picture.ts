import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { isWiderThanScreen } from "./browser.ts";

const kept = new URL("../screens/", import.meta.url);
const artifacts = new URL("../../../../test-artifacts/", import.meta.url);

/**
 * Squares of this side are compared by their mean colour, so that smoothed edges of letters do not matter.
 * Too small: a line that moves by one pixel counts as a change. Too large: a missing icon does not.
 */
const squarePixels = 8;
/** A square differs when its colour does by this much of 255. */
const differenceOfSquare = 20;
/** Squares of a thousand that may differ: other browsers set lines slightly wider. */
const toleratedPerMille = 20;

/** The parts of the DOM that the script needs; the server's types have no document. */
const compare = `async ({ one, other, square, difference }) => {
  const read = async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return { width: image.width, height: image.height, data: context.getImageData(0, 0, image.width, image.height).data };
  };
  const [a, b] = [await read(one), await read(other)];
  if (a.width !== b.width || a.height !== b.height) return 1000;
  let [squares, different] = [0, 0];
  for (let top = 0; top + square <= a.height; top += square)
    for (let left = 0; left + square <= a.width; left += square) {
      const sums = [0, 0, 0];
      for (let y = top; y < top + square; y++)
        for (let x = left; x < left + square; x++)
          for (let channel = 0; channel < 3; channel++) {
            const at = (y * a.width + x) * 4 + channel;
            sums[channel] += a.data[at] - b.data[at];
          }
      squares += 1;
      if (sums.some((sum) => Math.abs(sum) / square ** 2 > difference)) different += 1;
    }
  return (1000 * different) / squares;
}`;

/** Other versions of Chromium set lines differently, so only the suite's version is compared. */
const comparesPictures = process.env.ASSAY_TEST_PINNED_BROWSER !== undefined;
let hasSaidSo = false;

/**
 * Compares the page with its picture in `test/screens`. With ASSAY_NEW_SCREENS=1 the picture is replaced;
 * look at it before you commit it. Pages have their own font, so the machine's does not matter. With another
 * browser only the layout is checked.
 */
export async function checkPicture(page: Page, name: string): Promise<void> {
  assert.ok(!(await isWiderThanScreen(page)), `${name} is wider than its screen`);
  if (!comparesPictures) {
    if (!hasSaidSo)
      console.log("Pictures are not compared: this is not the browser that the suite fetches itself.");
    hasSaidSo = true;
    return;
  }
  await page.evaluate("window.scrollTo(0, 0), document.fonts.ready.then(() => true)");
  const taken = await page.screenshot({ animations: "disabled", caret: "hide" });
  const file = new URL(`${name}.png`, kept);
  if (process.env.ASSAY_NEW_SCREENS !== undefined || !existsSync(file)) {
    mkdirSync(kept, { recursive: true });
    writeFileSync(file, taken);
    return;
  }
  // A separate page: the person's page must not load a picture from elsewhere.
  const judge = await page.context().newPage();
  const perMille = await judge.evaluate<number>(
    `(${compare})(${JSON.stringify({
      one: `data:image/png;base64,${readFileSync(file).toString("base64")}`,
      other: `data:image/png;base64,${taken.toString("base64")}`,
      square: squarePixels,
      difference: differenceOfSquare,
    })})`,
  );
  await judge.close();
  if (perMille > toleratedPerMille) {
    mkdirSync(artifacts, { recursive: true });
    writeFileSync(new URL(`changed-${name}.png`, artifacts), taken);
  }
  assert.ok(
    perMille <= toleratedPerMille,
    `${name} looks different: ${perMille.toFixed(0)} squares of a thousand. It is in test-artifacts/changed-${name}.png; if it is right, run the test with ASSAY_NEW_SCREENS=1.`,
  );
}

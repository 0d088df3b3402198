import { chromium } from "playwright-core";
import type { Pixels } from "./decode-png.ts";
import { findBrowser, howToGetBrowser, thisMachine } from "./find-browser.ts";

export class WebpError extends Error {}

export type WebpDecoder = {
  decode(bytes: Uint8Array, maxPixels: number): Promise<Pixels>;
  close(): Promise<void>;
};

/**
 * No package of ours reads WebP, but every browser does.
 * This uses that of the tests and starts it with the first picture.
 */
export function webpDecoder(): WebpDecoder {
  let opened: ReturnType<typeof open> | null = null;
  return {
    async decode(bytes, maxPixels) {
      opened ??= open();
      const { page } = await opened;
      const asked = { picture: Buffer.from(bytes).toString("base64"), maxPixels };
      const found = await page.evaluate<{ width: number; height: number; rgb: string } | null>(
        `(${readPixels})(${JSON.stringify(asked)})`,
      );
      if (found === null) throw new WebpError("The picture cannot be decoded, or has too many pixels");
      return { ...found, rgb: new Uint8Array(Buffer.from(found.rgb, "base64")) };
    },
    async close() {
      // If none could be started, nothing is open.
      await (await opened?.catch(() => null))?.browser.close();
    },
  };
}

async function open() {
  const { path } = findBrowser(thisMachine);
  if (path === null) throw new WebpError(`WebP is read by a browser, and there is ${howToGetBrowser}`);
  const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });
  return { browser, page: await browser.newPage() };
}

/** Runs in the page; the types of scripts know no canvas. */
const readPixels = `async ({ picture, maxPixels }) => {
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/webp" })).catch(() => null);
  if (bitmap === null || bitmap.width * bitmap.height > maxPixels) return null;
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const rows = Array.from({ length: height }, (_, row) =>
    String.fromCharCode(...data.subarray(row * width * 4, (row + 1) * width * 4).filter((_, at) => at % 4 < 3)),
  );
  return { width, height, rgb: btoa(rows.join("")) };
}`;

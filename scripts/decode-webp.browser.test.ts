import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser } from "../apps/server/test/support/browser.ts";
import { WebpError, webpDecoder } from "./decode-webp.ts";

test("a WebP is read to its colours, and one that is broken or too large is refused", async (t) => {
  const page = await (await openBrowser()).newPage();
  const picture = await page.evaluate<number[]>(`(async () => {
    const canvas = new OffscreenCanvas(40, 24);
    const context = canvas.getContext("2d");
    context.fillStyle = "rgb(200, 60, 20)";
    context.fillRect(0, 0, 20, 24);
    context.fillStyle = "rgb(10, 90, 220)";
    context.fillRect(20, 0, 20, 24);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.95 });
    return [...new Uint8Array(await blob.arrayBuffer())];
  })()`);
  const bytes = Uint8Array.from(picture);
  assert.equal(Buffer.from(bytes).toString("latin1", 8, 12), "WEBP");
  const decoder = webpDecoder();
  t.after(() => decoder.close());
  const { width, height, rgb } = await decoder.decode(bytes, 1_000);
  assert.deepEqual([width, height, rgb.length], [40, 24, 40 * 24 * 3]);
  const near = (at: number, colour: readonly number[]) =>
    colour.every((value, channel) => Math.abs((rgb[at * 3 + channel] ?? 0) - value) <= 12);
  assert.ok(near(12 * 40 + 8, [200, 60, 20]) && near(12 * 40 + 32, [10, 90, 220]));
  await assert.rejects(decoder.decode(bytes, 900), WebpError);
  await assert.rejects(decoder.decode(bytes.subarray(0, 20), 1_000), WebpError);
});

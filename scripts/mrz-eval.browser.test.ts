import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openBrowser } from "../apps/server/test/support/browser.ts";

const frames = path.join(import.meta.dirname, "../packages/mrz-reader/test/frames");

test("an evaluation reads the lines of a WebP, whatever its name says, and names one that is broken", async (t) => {
  const page = await (await openBrowser()).newPage();
  const jpeg = readFileSync(path.join(frames, "passport.jpg"), "base64");
  const picture = await page.evaluate<number[]>(`(async () => {
    const bytes = Uint8Array.from(atob("${jpeg}"), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.95 });
    return [...new Uint8Array(await blob.arrayBuffer())];
  })()`);
  const webp = Uint8Array.from(picture);
  assert.equal(Buffer.from(webp).toString("latin1", 8, 12), "WEBP");
  const said: { passport: { lines: string[] } } = JSON.parse(
    readFileSync(path.join(frames, "frames.json"), "utf8"),
  );
  const folder = mkdtempSync(path.join(tmpdir(), "assay-lines-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes] of [
    ["passport.webp", webp],
    ["named-otherwise.jpg", webp],
    ["broken.webp", webp.subarray(0, 40)],
  ] as const) {
    writeFileSync(path.join(folder, name), bytes);
    writeFileSync(path.join(folder, name.replace(/\.\w+$/, ".txt")), said.passport.lines.join("\n"));
  }
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, "mrz-eval.ts"), folder],
    { encoding: "utf8" },
  );
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^key right: 2 of 2 \(95 %: /);
  assert.match(stdout, /no picture that can be read: 1; [^\n]*\n {2}unusable: broken\.webp\n$/);
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { decode } from "jpeg-js";

/** The same picture as a PNG of three bytes a pixel. */
function pngOf(jpeg: Uint8Array): Buffer {
  const { width, height, data } = decode(jpeg, { useTArray: true, formatAsRGBA: false });
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let row = 0; row < height; row++)
    rows.set(data.subarray(row * width * 3, (row + 1) * width * 3), row * (1 + width * 3) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const chunk = (name: string, body: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(name, "latin1"), body]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

test("an evaluation tells the errors on a folder of labelled pictures, and what they are too few for", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-faces-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [person, files] of [
    ["adult", ["adult.jpg"]],
    ["elder", ["elder.jpg", "elder.jp2"]],
  ] as const) {
    mkdirSync(path.join(folder, person));
    for (const file of files) writeFileSync(path.join(folder, person, file), readPortrait(file));
  }
  writeFileSync(path.join(folder, "adult", "notes.txt"), "no picture");
  writeFileSync(path.join(folder, "adult", "shot.gif"), "GIF89a");
  writeFileSync(path.join(folder, "adult", "broken.png"), Buffer.from("89504e470d0a1a0a0000000d", "hex"));
  writeFileSync(path.join(folder, "adult", "named.jpg"), pngOf(readPortrait("adult.jpg")));
  const { stdout, status } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, "face-eval.ts"), folder],
    { encoding: "utf8" },
  );
  assert.equal(status, 0);
  assert.match(
    stdout,
    /2 people, 7 pictures; no face was found, or nothing could be read, in 3; 4 are straight looks\n {2}adult.broken\.png: it cannot be read\n/,
  );
  assert.match(stdout, /adult.notes\.txt: it cannot be read\n/);
  assert.match(stdout, /adult.shot\.gif: it is GIF; JPEG, JPEG 2000, PNG and WebP are read\n/);
  // The portrait of the adult is there twice, as JPEG and as PNG.
  assert.match(stdout, /2 pairs of one person, 4 pairs of two/);
  assert.match(
    stdout,
    /^0\.55 {7}0\.000 % \(0\.000 % to 49\.0 %; 0 of 4\) {2}\| {2}0\.000 % \(.*; 0 of 2\) .*FACE_MATCH_DISTANCE/m,
  );
  assert.match(stdout, /^0\.30 {7}0\.000 % /m);
  assert.match(stdout, /FMR of at most 1 %: not measured, it takes 381 pairs/);
  assert.match(stdout, /As in a try, .*: 0 tries of the person, 0 of others/);
});

test("an evaluation tells errors before and after faces are turned, for all and within each group", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-faces-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [group, person, file] of [
    ["grown", "adult", "adult.jpg"],
    ["grown", "elder", "elder.jpg"],
    ["young", "child", "child.jpg"],
  ] as const) {
    mkdirSync(path.join(folder, group, person), { recursive: true });
    writeFileSync(path.join(folder, group, person, file), readPortrait(file));
  }
  const { stdout, status } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, "face-eval.ts"), folder, "--upright"],
    { encoding: "utf8" },
  );
  assert.equal(status, 0);
  const titles = stdout.split("\n").filter((line) => line.startsWith("#") || / pairs of two$/.test(line));
  assert.deepEqual(titles, [
    "## Before: an upright box around the face",
    "0 pairs of one person, 3 pairs of two",
    ...["# Within grown", "0 pairs of one person, 1 pairs of two"],
    ...["# Within young", "0 pairs of one person, 0 pairs of two"],
    "## Faces turned by their landmarks, as the service compares",
    "0 pairs of one person, 3 pairs of two",
    ...["# Within grown", "0 pairs of one person, 1 pairs of two"],
    ...["# Within young", "0 pairs of one person, 0 pairs of two"],
  ]);
});

test("an evaluation without a folder says how it is called", () => {
  const { stderr, status } = spawnSync(process.execPath, [path.join(import.meta.dirname, "face-eval.ts")], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stderr.startsWith("Usage: npm run face-eval -- FOLDER")], [2, true]);
});

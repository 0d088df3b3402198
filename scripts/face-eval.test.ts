import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";

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
  writeFileSync(path.join(folder, "adult", "shot.png"), Buffer.from("89504e470d0a1a0a0000000d", "hex"));
  writeFileSync(path.join(folder, "adult", "web.jpg"), "RIFF\x10\0\0\0WEBPVP8 ");
  const { stdout, status } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, "face-eval.ts"), folder],
    { encoding: "utf8" },
  );
  assert.equal(status, 0);
  assert.match(
    stdout,
    /2 people, 6 pictures; no face was found, or nothing could be read, in 3\n {2}adult.notes\.txt: it cannot be read\n/,
  );
  assert.match(stdout, /adult.shot\.png: it is PNG; only JPEG and JPEG 2000 are read\n/);
  assert.match(stdout, /adult.web\.jpg: it is WebP; only JPEG and JPEG 2000 are read\n/);
  assert.match(stdout, /1 pairs of one person, 2 pairs of two/);
  assert.match(
    stdout,
    /^0\.52 {7}0\.000 % \(0\.000 % to 65\.8 %; 0 of 2\) {2}\| {2}0\.000 % \(.*; 0 of 1\) .*FACE_MATCH_DISTANCE/m,
  );
  assert.match(stdout, /^0\.30 {7}0\.000 % /m);
  assert.match(stdout, /FMR of at most 1 %: not measured, it takes 381 pairs/);
  assert.match(stdout, /As a try compares, .*: 0 tries of the person, 0 of somebody else/);
});

test("an evaluation without a folder says how it is called", () => {
  const { stderr, status } = spawnSync(process.execPath, [path.join(import.meta.dirname, "face-eval.ts")], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stderr.startsWith("Usage: npm run face-eval -- FOLDER")], [2, true]);
});

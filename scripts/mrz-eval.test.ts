import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { decode } from "jpeg-js";
import { decodePng, PngError } from "./decode-png.ts";

const frames = path.join(import.meta.dirname, "../packages/mrz-reader/test/frames");
const said: Record<string, { lines: string[] | null }> = JSON.parse(
  readFileSync(path.join(frames, "frames.json"), "utf8"),
);

function png(width: number, height: number, kind: number, rows: Uint8Array, palette?: Uint8Array): Buffer {
  const part = (name: string, body: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(name, "latin1"), body]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, kind], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    part("IHDR", header),
    ...(palette === undefined ? [] : [part("PLTE", palette)]),
    part("IDAT", deflateSync(rows)),
    part("IEND", new Uint8Array()),
  ]);
}

function asPng(jpeg: Buffer): Buffer {
  const { data, width, height } = decode(jpeg, { useTArray: true });
  const rows = new Uint8Array((width * 4 + 1) * height);
  for (let y = 0; y < height; y++)
    rows.set(data.subarray(y * width * 4, (y + 1) * width * 4), y * (width * 4 + 1) + 1);
  return png(width, height, 6, rows);
}

test("an evaluation tells what is read on a folder of labelled pictures and films, by text files and by a table, and prints no line", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "assay-lines-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const into = (name: string) => path.join(folder, name);
  const linesOf = (name: string) => said[name]?.lines ?? [];
  for (const name of ["passport.jpg", "permit.jpg", "no-zone.jpg"])
    copyFileSync(path.join(frames, name), into(name));
  writeFileSync(into("passport.txt"), linesOf("passport").join("\n"));
  writeFileSync(into("no-zone.txt"), "\n");
  writeFileSync(into("card.PNG"), asPng(readFileSync(path.join(frames, "card.jpg"))));
  // Three frames of one document, which the camera believes; two it does not.
  for (const [film, names] of [
    ["film", ["0.jpg", "1.jpg", "2.jpg"]],
    ["short", ["0.jpg", "1.jpg"]],
  ] as const) {
    mkdirSync(into(film));
    for (const name of names) copyFileSync(path.join(frames, "passport.jpg"), path.join(into(film), name));
    writeFileSync(path.join(into(film), "lines.txt"), linesOf("passport").join("\n"));
  }
  writeFileSync(into("broken.png"), "no picture");
  writeFileSync(
    into("labels.csv"),
    [
      "file,line 1,line 2,line 3",
      ["card.PNG", ...linesOf("card")].join(","),
      // The lines of another document than the picture shows.
      ["permit.jpg", ...linesOf("passport")].map((cell) => `"${cell}"`).join(","),
      "broken.png,",
      "lost.jpg,",
      "",
    ].join("\r\n"),
  );
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, "mrz-eval.ts"), folder],
    { encoding: "utf8" },
  );
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^key right: 3 of 5 \(95 %: /);
  assert.match(stdout, /^wrong key accepted: 1 of 6 /m);
  assert.match(stdout, /nothing read: 1; no picture that can be read: 1; .*: 1$/m);
  assert.match(
    stdout,
    /wrong: permit\.jpg\n {2}not_read: short\n {2}unusable: broken\.png\n {2}no_label: lost\.jpg\n$/,
  );
  for (const line of [...linesOf("passport"), ...linesOf("card")])
    assert.ok(!stdout.includes(line.slice(0, 9)));
});

test("an evaluation of lines without a folder says how it is called", () => {
  const { stderr, status } = spawnSync(process.execPath, [path.join(import.meta.dirname, "mrz-eval.ts")], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stderr.startsWith("Usage: npm run mrz-eval -- FOLDER")], [2, true]);
});

test("a PNG is read whatever its colours and filters are, and a broken or too large one is refused", () => {
  // Two by three grey pixels; every row uses another filter.
  const grey = png(2, 3, 0, Uint8Array.of(0, 10, 20, 1, 5, 5, 2, 1, 1));
  assert.deepEqual(
    [...decodePng(grey, 6).rgb].filter((_, n) => n % 3 === 0),
    [10, 20, 5, 10, 6, 11],
  );
  const more = png(2, 3, 4, Uint8Array.of(0, 10, 255, 20, 255, 3, 5, 0, 5, 0, 4, 1, 0, 1, 0));
  assert.deepEqual(
    [...decodePng(more, 6).rgb].filter((_, n) => n % 3 === 0),
    [10, 20, 10, 20, 11, 21],
  );
  const palette = png(2, 1, 3, Uint8Array.of(0, 1, 0), Uint8Array.of(1, 2, 3, 4, 5, 6));
  assert.deepEqual([...decodePng(palette, 2).rgb], [4, 5, 6, 1, 2, 3]);
  for (const bad of [grey.subarray(0, 40), png(2, 3, 0, new Uint8Array(8)), png(2, 3, 5, new Uint8Array(9))])
    assert.throws(() => decodePng(bad, 6), PngError);
  assert.throws(() => decodePng(grey, 5), PngError);
  assert.throws(() => decodePng(png(1, 1, 0, new Uint8Array(5_000_000)), 5), PngError);
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decode } from "jpeg-js";
import { addReading, nothingRead } from "../src/agreement.ts";
import type { Quad } from "../src/geometry.ts";
import { greyOf } from "../src/grey.ts";
import type { Plane } from "../src/network.ts";
import { loadReader } from "../src/node/load-reader.ts";
import { readPhoto } from "../src/photo.ts";

const folder = new URL("frames/", import.meta.url);
const frames: Record<string, { key: [string, string, string] | null }> = JSON.parse(
  readFileSync(new URL("frames.json", folder), "utf8"),
);
const now = new Date("2026-06-01T00:00:00Z");
const reader = loadReader();

function frameOf(name: string) {
  const { data, width, height } = decode(readFileSync(new URL(`${name}.jpg`, folder)), { useTArray: true });
  return greyOf(data, width, height);
}

for (const name of ["passport", "card", "permit", "turned", "upside-down"])
  test(`a picture of an invented document gives its key: ${name}`, () => {
    const { quad, reading } = reader.look(frameOf(name), now);
    assert.ok(quad !== null && reading.type === "key", reading.type);
    const { documentNumber, dateOfBirth, dateOfExpiry } = reading.fields;
    assert.deepEqual([documentNumber.padEnd(9, "<"), dateOfBirth, dateOfExpiry], frames[name]?.key);
    assert.equal(addReading(nothingRead, reading).accepted, null);
  });

/** The frame with a grey bar across the last two of a card's three lines, over these of its thirty positions. */
function covered(frame: Plane, [, , c, d]: Quad, from: number, to: number): Plane {
  const characters = 30;
  const data = frame.data.slice();
  const along = (position: number) => ({
    x: d.x + ((c.x - d.x) * position) / characters,
    y: d.y + ((c.y - d.y) * position) / characters,
  });
  const [left, right] = [along(from), along(to)];
  const tall = Math.hypot(c.x - d.x, c.y - d.y) / characters;
  for (let y = 0; y < frame.height; y++)
    for (let x = Math.ceil(left.x); x < right.x; x++) {
      const low = left.y + ((right.y - left.y) * (x - left.x)) / (right.x - left.x);
      if (y > low - 5 * tall && y < low + tall) data[y * frame.width + x] = 0.45;
    }
  return { ...frame, data };
}

test("a finger on optional data keeps no key out; on the key it does", () => {
  const frame = frameOf("card");
  const { quad } = reader.look(frame, now);
  assert.ok(quad !== null);
  const free = reader.look(covered(frame, quad, 19, 26), now);
  assert.ok(free.reading.type === "key" && free.how === "covered", `${free.reading.type} ${free.how}`);
  assert.equal(free.reading.fields.documentNumber.padEnd(9, "<"), frames.card?.key?.[0]);
  for (const from of [1, 10, 26])
    assert.notEqual(reader.look(covered(frame, quad, from, from + 4), now).reading.type, "key");
});

test("a photo is believed when two sizes of it say the same", () => {
  const read = readPhoto(reader, frameOf("passport"), now);
  assert.ok(read !== null && read !== "visa");
  assert.equal(read.documentNumber.padEnd(9, "<"), frames.passport?.key?.[0]);
});

test("a visa is told to be one, and a page without the lines to have none", () => {
  assert.deepEqual(reader.look(frameOf("visa"), now).reading, { type: "visa" });
  const nothing = reader.look(frameOf("no-zone"), now);
  assert.deepEqual([nothing.quad, nothing.reading.type, nothing.hint], [null, "unclear", "show_lines"]);
});

test("any picture is looked at without harm, however small, narrow, black, white or not a number", () => {
  for (const [width, height] of [
    [1, 1],
    [3, 700],
    [900, 2],
    [64, 48],
  ] as const)
    for (const value of [0, 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const plane = { width, height, data: new Float32Array(width * height).fill(value) };
      assert.notEqual(reader.look(plane, now).reading.type, "key");
    }
});

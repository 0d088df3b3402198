import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decode } from "jpeg-js";
import { addReading, nothingRead } from "../src/agreement.ts";
import { greyOf } from "../src/grey.ts";
import { readPhoto } from "../src/photo.ts";
import { loadReader } from "./support/load-reader.ts";

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
    assert.ok(quad !== null && reading.kind === "key", reading.kind);
    const { documentNumber, dateOfBirth, dateOfExpiry } = reading.fields;
    assert.deepEqual([documentNumber.padEnd(9, "<"), dateOfBirth, dateOfExpiry], frames[name]?.key);
    assert.equal(addReading(nothingRead, reading, 2).accepted, null);
  });

test("a photo is believed when two sizes of it say the same", () => {
  const read = readPhoto(reader, frameOf("passport"), now);
  assert.ok(read !== null && read !== "visa");
  assert.equal(read.documentNumber.padEnd(9, "<"), frames.passport?.key?.[0]);
});

test("a visa is told to be one, and a page without the lines to have none", () => {
  assert.deepEqual(reader.look(frameOf("visa"), now).reading, { kind: "visa" });
  const nothing = reader.look(frameOf("no-zone"), now);
  assert.deepEqual([nothing.quad, nothing.reading.kind, nothing.hint], [null, "unclear", "show_lines"]);
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
      assert.notEqual(reader.look(plane, now).reading.kind, "key");
    }
});

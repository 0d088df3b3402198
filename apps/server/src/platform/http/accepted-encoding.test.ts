import assert from "node:assert/strict";
import test from "node:test";
import { acceptedEncoding } from "./accepted-encoding.ts";

test("brotli comes before gzip, and what the client refuses is not used", () => {
  for (const [header, encoding] of [
    [undefined, null],
    ["", null],
    ["identity", null],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0", "gzip"],
    ["GZIP", "gzip"],
    ["br ; q=0.000, gzip ; q=0", null],
    ["*", "br"],
    ["*;q=0", null],
    ["*;q=0, gzip", "gzip"],
    ["gzipped, brotli", null],
  ] as const)
    assert.equal(acceptedEncoding(header), encoding, header);
});

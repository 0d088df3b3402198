import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { artifactFrames, decodeArtifactFrame, verifySocketLimits } from "./verify-protocol.ts";

test("the frames of an artifact carry its bytes, in order and within the limit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 0xffff_ffff }),
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1, max: 1000 }),
      (artifact, seed, times) => {
        const bytes = new Uint8Array(seed.length * times).map((_, i) => seed[i % seed.length] ?? 0);
        let offset = 0;
        for (const raw of artifactFrames(artifact, bytes)) {
          const frame = decodeArtifactFrame(raw);
          assert.ok(frame !== null);
          assert.equal(frame.artifact, artifact);
          assert.equal(frame.offset, offset);
          assert.equal(frame.total, bytes.length);
          assert.ok(frame.bytes.length <= verifySocketLimits.frameBytes);
          assert.deepEqual(frame.bytes, bytes.subarray(offset, offset + frame.bytes.length));
          offset += frame.bytes.length;
        }
        assert.equal(offset, bytes.length);
      },
    ),
    { numRuns: 50 },
  );
});

test("any bytes are a frame or null, never an error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const frame = decodeArtifactFrame(bytes);
      assert.equal(frame !== null, bytes.length > 13 && bytes[0] === 1);
    }),
  );
});

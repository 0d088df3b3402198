import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isoText } from "./iso-text.ts";

test("a time is written as toISOString writes it, whole seconds or not, in any year", () => {
  const agrees = (time: Date) => assert.equal(isoText(time), time.toISOString());
  for (const text of ["0000-01-01", "1999-12-31T23:59:59Z", "2000-02-29T00:00:00Z", "9999-12-31T23:59:59Z"])
    agrees(new Date(text));
  for (const text of ["-000001-12-31T23:59:59Z", "+010000-01-01T00:00:00Z", "2026-11-15T12:00:00.007Z"])
    agrees(new Date(text));
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), fc.boolean(), (time, whole) =>
      agrees(whole ? new Date(Math.floor(time.getTime() / 1000) * 1000) : time),
    ),
  );
});

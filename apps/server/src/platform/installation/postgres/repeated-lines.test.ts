import assert from "node:assert/strict";
import test from "node:test";
import { onceAMinute } from "./repeated-lines.ts";

test("a line that repeats itself is logged once a minute with its count, whatever its time and process id; others at once", () => {
  let now = 0;
  const lines: string[] = [];
  const log = onceAMinute(
    (line) => lines.push(line),
    () => now,
  );
  for (; now < 150_000; now += 10_000)
    log(`2026-11-17 20:36:${now / 10_000}.7 GMT [${now}] FATAL: no`, "error");
  log("it ended", "warn");
  assert.deepEqual(lines, [
    "2026-11-17 20:36:0.7 GMT [0] FATAL: no",
    "2026-11-17 20:36:6.7 GMT [60000] FATAL: no (6 times since it was last logged)",
    "2026-11-17 20:36:12.7 GMT [120000] FATAL: no (6 times since it was last logged)",
    "it ended",
  ]);
});

test("a line that comes once a minute or less has no count", () => {
  let now = 0;
  const lines: string[] = [];
  const log = onceAMinute(
    (line) => lines.push(line),
    () => now,
  );
  for (; now < 180_000; now += 60_000) log("it ended", "warn");
  assert.deepEqual(lines, ["it ended", "it ended", "it ended"]);
});

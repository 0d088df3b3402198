import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../platform/kernel/ids.ts";
import { progressSession, reportProgress } from "./report-progress.ts";

test("a notification names its session; one that cannot be read is about any", () => {
  const id = newId("vs", new Date(0));
  assert.equal(progressSession(JSON.stringify({ session_id: id, attempt_id: "va_", step: "chip" })), id);
  for (const payload of ["", "{", "null", "{}", '{"session_id":1}'])
    assert.equal(progressSession(payload), null);
});

test("only a plain word is stored and announced as a step", async () => {
  const now = new Date(0);
  const ids = { sessionId: newId("vs", now), attemptId: newId("va", now) };
  const untouched = {} as Parameters<typeof reportProgress>[0];
  for (const step of ["", "Chip", "chip 1", "a\nchip", "chip\n", "x".repeat(41)])
    await assert.rejects(reportProgress(untouched, { ...ids, step, now }), /plain word/);
});

import assert from "node:assert/strict";
import test from "node:test";
import { createLogWriter } from "./log-writer.ts";

test("writers that have written nothing leave no listeners behind, however many a process makes", () => {
  const listeners = () => [
    ...["error", "drain"].map((event) => process.stdout.listenerCount(event)),
    process.listenerCount("exit"),
  ];
  const before = listeners();
  for (let i = 0; i < 20; i++) createLogWriter(() => {});
  assert.deepEqual(listeners(), before);
});

import assert from "node:assert/strict";
import test from "node:test";
import { minuteMs, secondMs } from "../kernel/clock.ts";
import { createLog } from "../lib/log.ts";
import { Overload } from "./overload.ts";

const state = { limit: 10, waiting: 3 };

test("overload is told when it begins, once a minute while it lasts, and when it is over, with what it cost", () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", write: (line) => lines.push(line), now: () => new Date() });
  const overload = new Overload(log);
  let now = 0;
  for (; now < 2 * minuteMs; now += secondMs) {
    for (let i = 0; i < 100; i++) overload.refused("waited_too_long", now, state);
    overload.look(now, state);
  }
  assert.ok(overload.isOn);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).message),
    ["overload: more requests come than can be served, some are refused", "overload goes on"],
  );
  overload.look(now + 3 * secondMs, state);
  assert.ok(overload.isOn, "a short calm is not the end");
  overload.look(now + 4 * secondMs, state);
  assert.ok(!overload.isOn);
  const last = JSON.parse(lines.at(-1) ?? "");
  assert.equal(last.message, "overload is over");
  assert.equal(last.waited_too_long, 12_000);

  overload.refused("queue_full", now + 10 * secondMs, state);
  overload.look(now + 20 * secondMs, state);
  assert.equal(JSON.parse(lines.at(-1) ?? "").queue_full, 1);
  assert.equal(JSON.parse(lines.at(-1) ?? "").waited_too_long, 0);
});

import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import pg from "pg";
import { minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { startTestService, TestClock } from "../../support/service.ts";

const maxInAMinute = 150;

test("a service with nothing to do sends at most 150 statements in a minute", async () => {
  const clock = new TestClock();
  // The minute passes for timers, for the clock of the service and for measured durations.
  mock.timers.enable({ apis: ["setTimeout"] });
  const begin = clock.now().getTime();
  const measured = performance.now.bind(performance);
  mock.method(performance, "now", () => measured() + clock.now().getTime() - begin);
  const { core, service } = await startTestService({
    clock,
    machines: 1,
    firstRunWithinMs: 1,
  });

  /** Until every connection has been without work for some turns of the event loop. */
  const untilQuiet = async () => {
    for (let quiet = 0; quiet < 20; quiet++) {
      await turn();
      const { open, idle, waiting } = core.db.pool.figures;
      if (idle < open || waiting > 0) quiet = 0;
    }
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += secondMs / 4) {
      clock.advance(secondMs / 4);
      mock.timers.tick(secondMs / 4);
      await untilQuiet();
    }
  };
  // The work at the start of a process is left out.
  await pass(minuteMs);

  const sent: string[] = [];
  const send = pg.Client.prototype.query;
  mock.method(pg.Client.prototype, "query", function (this: pg.Client, ...args: unknown[]) {
    const [query] = args;
    const text = typeof query === "string" ? query : ((query as { text?: string }).text ?? "");
    sent.push(...text.split(";\n").map((statement) => statement.replace(/\s+/g, " ").trim()));
    return (send as (...given: unknown[]) => unknown).apply(this, args);
  });
  await pass(minuteMs);
  mock.restoreAll();
  mock.timers.reset();
  await service.close();

  const counted = [...Map.groupBy(sent, (text) => text.slice(0, 100))].map(
    ([text, of]) => `${of.length} ${text}`,
  );
  assert.ok(sent.length > 20, "the jobs of a minute have run");
  assert.ok(sent.length <= maxInAMinute, `${sent.length} statements:\n${counted.sort().join("\n")}`);
});

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

/** For what comes true by itself, within half a minute. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 3000; i++) {
    if (await condition()) return;
    await wait(10);
  }
  assert.fail(`never happened: ${what}`);
}

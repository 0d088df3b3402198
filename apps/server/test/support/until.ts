import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

/**
 * Waits for something that happens without the test. The limit only ends a test that would never end, so it
 * is far longer than a busy machine needs.
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 10_000; i++) {
    if (await condition()) return;
    await wait(10);
  }
  assert.fail(`never happened: ${what}`);
}

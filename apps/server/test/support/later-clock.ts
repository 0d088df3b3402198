// Imported first by a built service under test (`node --import`). Moves the time of the process ahead, as if
// the installation had been off. The database's clock cannot be moved, so it is not asked.
import type { DatabaseClock } from "../../src/platform/db/database-clock.ts";
import { importBuilt } from "./built.ts";

const aheadMs = Number(process.env.TEST_CLOCK_AHEAD_MS ?? 0);
const realNow = Date.now;
Date.now = () => realNow() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, self) =>
    Reflect.construct(target, parts.length === 0 ? [Date.now()] : parts, self),
});

const clock = await importBuilt<(() => unknown) & typeof DatabaseClock>("database-clock", "DatabaseClock");
clock.prototype.ask = async () => {};

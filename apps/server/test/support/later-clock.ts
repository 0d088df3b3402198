// Imported before everything else by a service under test (`node --import`), this moves the time of its whole process ahead:
// to the service, the installation was off for that long. The database, whose clock counts, cannot be moved, so it is not asked.
import { DatabaseClock } from "../../src/platform/db/database-clock.ts";

const aheadMs = Number(process.env.TEST_CLOCK_AHEAD_MS ?? 0);
const realNow = Date.now;
Date.now = () => realNow() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, self) =>
    Reflect.construct(target, parts.length === 0 ? [Date.now()] : parts, self),
});
DatabaseClock.prototype.ask = async () => {};

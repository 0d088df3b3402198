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

// The bundle shortens the names of what a file exports, not the name of the class.
const exported = Object.values(await importBuilt<Record<string, typeof DatabaseClock>>("database-clock"));
const clock = exported.find(({ name }) => name === "DatabaseClock");
if (clock === undefined) throw new Error("the bundle has no clock of the database");
clock.prototype.ask = async () => {};

import type { Core } from "../../src/core.ts";
import { readKnownParts } from "../../src/db/parts.store.ts";
import { type CutList, listCutter } from "../../src/db/parts.ts";
import { dayMs, later } from "../../src/kernel/clock.ts";
import { growingTables } from "../../src/retention/divided-tables.store.ts";
import { keepParts } from "../../src/retention/keep-parts.job.ts";

/** Keeps all tables in parts, as if they had been divided so many days ago. */
export async function divideSince(core: Core, days: number): Promise<void> {
  const now = core.clock.now();
  let at = later(now, -days * dayMs);
  const keep = keepParts({
    ...core,
    config: { ...core.config, databaseParts: "all" },
    clock: { now: () => at },
  });
  // The first run closes the database to older releases.
  for (await keep(); at <= now; at = later(at, 3 * dayMs)) await keep();
}

/** How lists are read by a process that has looked which parts there are, by one that has not, and by one that knows of others than there are now. */
export async function waysToList(core: Core): Promise<readonly CutList[]> {
  const now = core.clock.now();
  const known = await readKnownParts(core.db, growingTables, now);
  const bounds = [-90, -40, -20, -17, -12, -2, 1].map((days) => later(now, days * dayMs));
  const others = new Map([...known].map(([table, parts]) => [table, { ...parts, bounds }]));
  return [listCutter(known, core.clock), listCutter(others, core.clock), () => null];
}

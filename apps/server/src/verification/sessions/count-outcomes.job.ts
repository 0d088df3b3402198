import type { Core } from "../../platform/core.ts";
import { countOutcomes, deleteOutcomes, takeOutcomes } from "./session-day.store.ts";

export const outcomesAtOnce = 1000;

/** Adds outcomes to the figures of their days, and deletes them in the same transaction. */
export function countSessionOutcomes({ setAside }: Pick<Core, "setAside">, job: string): Promise<number> {
  return setAside.rowsOf(job, "session_outcomes").run(outcomesAtOnce, {
    take: takeOutcomes,
    handle: async (tx, outcomes) => {
      await countOutcomes(tx, outcomes);
      await deleteOutcomes(tx, outcomes);
    },
  });
}

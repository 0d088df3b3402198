import { getRequestLimit, listApiRequests } from "@assay/contract/api-log";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { dayMs, hourMs, later } from "../../platform/kernel/clock.ts";
import { viewPage } from "../../platform/kernel/page.ts";
import { parseCreated } from "../../platform/kernel/times.ts";
import type { ApiLog } from "./api-log.ts";
import { countRefused, listRequests } from "./api-request.store.ts";
import { viewApiRequest } from "./api-request.view.ts";

export function apiLogRoutes(
  { db, clock, config }: Pick<Core, "db" | "clock" | "config">,
  log: ApiLog,
): Binding[] {
  return [
    // Writes this process's requests first, so that a request that failed just now is listed.
    bind(listApiRequests, async ({ caller, query }) => {
      await log.flush();
      const { api_key_id: keyId, status_class: statusClass, request_id: requestId } = query;
      const filter = { keyId, statusClass, requestId, ...parseCreated(query) };
      const page = { limit: query.limit, startingAfter: query.starting_after };
      return viewPage(listRequests(db, caller, { ...filter, ...page }), viewApiRequest);
    }),

    bind(getRequestLimit, async ({ caller }) => {
      await log.flush();
      const now = clock.now();
      const since = { hour: later(now, -hourMs), day: later(now, -dayMs) };
      const refused = await countRefused(db, caller.organizationId, since);
      return {
        requests_per_second: config.organizationRequestsPerSecond,
        refused_last_hour: refused.lastHour,
        refused_last_day: refused.lastDay,
      };
    }),
  ];
}

import { listAuditLogs } from "@assay/contract/audit";
import type { Core } from "../core.ts";
import { type Binding, bind } from "../http/mount.ts";
import { viewPage } from "../kernel/page.ts";
import { parseCreated } from "../kernel/times.ts";
import { listAuditLogs as readAuditLogs } from "./audit.store.ts";
import { viewAuditLog } from "./audit.view.ts";

export function auditRoutes({ db }: Pick<Core, "db">): Binding[] {
  return [
    bind(listAuditLogs, ({ caller, query }) =>
      viewPage(
        readAuditLogs(db, caller.organizationId, {
          event: query.event,
          actorId: query.actor_id,
          ...parseCreated(query),
          limit: query.limit,
          startingAfter: query.starting_after,
        }),
        viewAuditLog,
      ),
    ),
  ];
}

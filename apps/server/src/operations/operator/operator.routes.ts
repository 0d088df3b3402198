import * as contract from "@assay/contract/operator";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { viewPage } from "../../platform/kernel/page.ts";
import { listOrganizationSizes } from "./installation.store.ts";
import { viewInstallationStatus, viewOrganizationSize } from "./operator.view.ts";
import { readInstallationStatus, type StatusNeeds } from "./read-status.ts";

export function operatorRoutes(core: Core, needs: StatusNeeds): Binding[] {
  const { db, clock } = core;
  return [
    bind(contract.operatorStatus, async () =>
      viewInstallationStatus(await readInstallationStatus(core, needs)),
    ),

    bind(contract.listOrganizationSizes, ({ query }) =>
      viewPage(
        listOrganizationSizes(db, {
          limit: query.limit,
          startingAfter: query.starting_after,
          firstDay: later(clock.now(), (1 - contract.operatorLimits.days) * dayMs)
            .toISOString()
            .slice(0, 10),
          refusedSince: later(clock.now(), -dayMs),
        }),
        viewOrganizationSize,
      ),
    ),
  ];
}

import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { environmentOf } from "../kernel/caller.ts";
import { mailOwners } from "../organizations/mail-owners.ts";
import type { Notice } from "./endpoint.store.ts";

type Needs = Pick<Core, "clock" | "publicUrl" | "ring">;

/** The mail names only the host of the endpoint: path and query may hold a secret of the partner's. */
function describe({ name, url, ...notice }: Notice): string {
  const host = URL.parse(url)?.host || "?";
  return `${name === null ? "" : `"${name}", `}${host} (${environmentOf(notice)})`;
}

function tellOwners(
  core: Needs,
  tx: Tx,
  notice: Notice,
  kind: "no_active_key" | "endpoint_gone" | "endpoint_failing",
): Promise<void> {
  const url = `${core.publicUrl()}/dashboard/webhooks?environment=${environmentOf(notice)}`;
  return mailOwners(core, tx, notice.organization_id, { kind, fill: { endpoint: describe(notice) }, url });
}

export function mailNoActiveKey(core: Needs, tx: Tx, notice: Notice): Promise<void> {
  return tellOwners(core, tx, notice, "no_active_key");
}

export function mailEndpointDisabled(
  core: Needs,
  tx: Tx,
  notice: Notice,
  reason: "endpoint_gone" | "no_success_for_5_days",
): Promise<void> {
  return tellOwners(core, tx, notice, reason === "endpoint_gone" ? "endpoint_gone" : "endpoint_failing");
}

import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { environmentOf } from "../kernel/caller.ts";
import { mailOwners } from "../organizations/mail-owners.ts";
import type { Notice } from "./endpoint.store.ts";

/** The mail names only the host of the endpoint: path and query may hold a secret of the partner's. */
function describe({ name, url, ...notice }: Notice): string {
  const host = URL.parse(url)?.host || "its address";
  const which = name === null ? "the webhook endpoint" : `the webhook endpoint "${name}"`;
  return `${which} at ${host} (${environmentOf(notice)})`;
}

function tellOwners(
  core: Pick<Core, "clock" | "publicUrl" | "ring">,
  tx: Tx,
  notice: Notice,
  subject: string,
  paragraphs: readonly string[],
): Promise<void> {
  const url = `${core.publicUrl()}/dashboard/webhooks?environment=${environmentOf(notice)}`;
  const action = { label: "Open webhooks", url };
  return mailOwners(core, tx, notice.organization_id, { subject, paragraphs, action });
}

export function mailNoActiveKey(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  notice: Notice,
): Promise<void> {
  return tellOwners(core, tx, notice, "A webhook could not be sent: no active encryption key", [
    `An event was meant for ${describe(notice)}, but it has no active encryption key. Webhooks are always encrypted, so nothing was sent, and this event cannot be sent later.`,
    "Register a key, or reactivate one, so that the next event arrives. The outcome itself can be read from the session.",
  ]);
}

export function mailEndpointDisabled(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  notice: Notice,
  reason: "endpoint_gone" | "no_success_for_5_days",
): Promise<void> {
  const why =
    reason === "endpoint_gone"
      ? "it answered 410 Gone, which asks us to stop"
      : "no delivery to it has succeeded for five days";
  return tellOwners(core, tx, notice, "A webhook endpoint was disabled", [
    `We disabled ${describe(notice)} because ${why}.`,
    "What is waiting for it is held. Enable the endpoint again when it works, and the deliveries go on.",
  ]);
}

import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { environmentOf, type OrganizationCaller } from "../../platform/kernel/caller.ts";
import { quoted } from "../../platform/mails/mail.ts";
import { findApiKeyName } from "../../tenants/api-keys/api-key.store.ts";
import { mailOwners } from "../../tenants/organizations/mail-owners.ts";
import type { EndpointRow, Notice } from "./endpoint.store.ts";

type Needs = Pick<Core, "clock" | "publicUrl" | "ring">;

/** The mail names only the host of the endpoint: path and query may hold a secret of the partner's. */
function describe({ name, url, ...notice }: Pick<Notice, "name" | "url" | "sandbox">): string {
  const host = url.startsWith("listener:") ? "assay listen" : URL.parse(url)?.host || "?";
  return `${name === null ? "" : `"${name}", `}${host} (${environmentOf(notice)})`;
}

function webhooksPage(core: Needs, notice: Pick<Notice, "sandbox">): string {
  return `${core.publicUrl()}/dashboard/webhooks?environment=${environmentOf(notice)}`;
}

function mailNotice(
  core: Needs,
  tx: Tx,
  notice: Notice,
  kind: "no_active_key" | "endpoint_gone" | "endpoint_failing",
): Promise<void> {
  const url = webhooksPage(core, notice);
  return mailOwners(core, tx, notice.organizationId, { kind, fill: { endpoint: describe(notice) }, url });
}

export function mailNoActiveKey(core: Needs, tx: Tx, notice: Notice): Promise<void> {
  return mailNotice(core, tx, notice, "no_active_key");
}

export function mailEndpointDisabled(
  core: Needs,
  tx: Tx,
  notice: Notice,
  reason: "endpoint_gone" | "no_success_for_5_days",
): Promise<void> {
  return mailNotice(core, tx, notice, reason === "endpoint_gone" ? "endpoint_gone" : "endpoint_failing");
}

/** A new endpoint or key decides who reads the results. In live the owners get a mail about every one. */
type Destination =
  | { kind: "endpoint_added" | "endpoint_moved"; endpoint: EndpointRow }
  | { kind: "key_added"; endpoint: EndpointRow; keyId: string };

export async function mailNewDestination(
  core: Needs,
  tx: Tx,
  caller: OrganizationCaller,
  destination: Destination,
): Promise<void> {
  if (caller.environment !== "live") return;
  const { kind, endpoint } = destination;
  const fill = { endpoint: describe(endpoint), actor: await nameOf(tx, caller) };
  const url = webhooksPage(core, endpoint);
  await mailOwners(
    core,
    tx,
    caller.organizationId,
    kind === "key_added"
      ? { kind, fill: { ...fill, key: quoted(destination.keyId) }, url }
      : { kind, fill, url },
  );
}

async function nameOf(tx: Tx, caller: OrganizationCaller): Promise<string> {
  if (caller.kind === "user") return `${quoted(caller.name)} (${caller.email})`;
  return `${quoted((await findApiKeyName(tx, caller, caller.keyId)) ?? "?")} (API)`;
}

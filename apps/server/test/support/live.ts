import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../src/platform/core.ts";
import { setLive } from "../../src/tenants/organizations/go-live.store.ts";
import { type Api, createKey, createPartner } from "./api.ts";

/** Opens live for an organization without the requirements of going live. */
export async function openLive(
  { db, clock }: Pick<Core, "db" | "clock">,
  organizationId: OrganizationId,
): Promise<void> {
  await db.transaction((tx) => setLive(tx, organizationId, clock.now()));
}

/** The same as a partner of the sandbox, with a key of live. */
export async function createLivePartner(core: Pick<Core, "db" | "clock">, api: Api) {
  const partner = await createPartner(api);
  await openLive(core, partner.organizationId);
  return withLiveKey(partner);
}

export async function withLiveKey<P extends Awaited<ReturnType<typeof createPartner>>>(partner: P) {
  const key = await createKey(partner.owner, undefined, "live");
  return { ...partner, key, api: key.api };
}

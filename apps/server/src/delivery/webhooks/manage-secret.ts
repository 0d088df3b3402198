import type { EndpointId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { readSigningSecret, replaceSigningSecret } from "./endpoint.store.ts";
import { newSigningSecret } from "./signing.ts";

type Needs = Pick<Core, "db" | "clock" | "ring">;

export async function revealSecret(
  { db, clock, ring }: Needs,
  caller: OrganizationCaller,
  endpointId: EndpointId,
): Promise<string> {
  const now = clock.now();
  const sealed = await db.transaction(async (tx) => {
    const found = await readSigningSecret(tx, caller, endpointId);
    if (found === null) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, { event: "webhook_secret.revealed", targetId: endpointId });
    return found;
  });
  return ring.openText("webhook-secret", sealed, endpointId);
}

/** The old secret stops working with this transaction: the next send is signed with the new one only. */
export async function rotateSecret(
  { db, clock, ring }: Needs,
  caller: OrganizationCaller,
  endpointId: EndpointId,
): Promise<string> {
  const now = clock.now();
  const secret = newSigningSecret();
  await db.transaction(async (tx) => {
    const sealed = ring.seal("webhook-secret", secret, endpointId);
    if (!(await replaceSigningSecret(tx, caller, endpointId, sealed, now))) throw new ApiError("NOT_FOUND");
    await recordAct(tx, now, caller, { event: "webhook_secret.rotated", targetId: endpointId });
  });
  return secret;
}

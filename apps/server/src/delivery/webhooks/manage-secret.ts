import type { EndpointId } from "@assay/contract/ids";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { hourMs, later } from "../../platform/kernel/clock.ts";
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

/** The new secret signs from this transaction on; the previous one also signs for `overlapHours`. */
export async function rotateSecret(
  { db, clock, ring }: Needs,
  caller: OrganizationCaller,
  endpointId: EndpointId,
  overlapHours: number,
): Promise<{ secret: string; previousUntil: Date | null }> {
  const now = clock.now();
  const secret = newSigningSecret();
  const previousUntil = overlapHours === 0 ? null : later(now, overlapHours * hourMs);
  await db.transaction(async (tx) => {
    const before = await readSigningSecret(tx, caller, endpointId);
    if (before === null) throw new ApiError("NOT_FOUND");
    const seal = (text: string) => ring.seal("webhook-secret", text, endpointId);
    // Sealed again, because the key that sealed it may be retiring.
    const previous =
      previousUntil === null
        ? null
        : { sealed: seal(ring.openText("webhook-secret", before, endpointId)), until: previousUntil };
    await replaceSigningSecret(tx, caller, endpointId, { sealed: seal(secret), previous }, now);
    const details = { overlap_hours: overlapHours };
    await recordAct(tx, now, caller, { event: "webhook_secret.rotated", targetId: endpointId, details });
  });
  return { secret, previousUntil };
}

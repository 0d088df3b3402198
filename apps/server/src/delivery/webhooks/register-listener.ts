import type { EndpointId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import type * as contract from "@assay/contract/webhook-listeners";
import { defaultPayloadRetentionHours } from "@assay/contract/webhooks";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import type { EncryptionKeyRow } from "./encryption-key.store.ts";
import { addEndpoint, type NewEndpoint } from "./manage-endpoint.ts";
import { addKey, refuseBadKey } from "./manage-key.ts";
import { mailNewDestination } from "./notify-owners.ts";

/**
 * Creates an endpoint for a program that opens a stream, together with its public key, so that every listener
 * has a key to seal for. Its URL only identifies it; no request is sent there.
 */
export async function registerListener(
  core: Pick<Core, "db" | "clock" | "ring" | "config" | "publicUrl">,
  caller: OrganizationCaller,
  body: BodyOf<typeof contract.registerListener>,
): Promise<NewEndpoint & { key: EncryptionKeyRow }> {
  refuseBadKey(body.encryption_key, "encryption_key.");
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    const { row, secret } = await addEndpoint(core, tx, caller, {
      kind: "listener",
      name: body.name?.trim() ?? null,
      urlOf: listenerUrl,
      subscribedEventTypes: body.subscribed_event_types ?? null,
      retentionHours: defaultPayloadRetentionHours,
      now,
    });
    await recordAct(tx, now, caller, {
      event: "webhook_endpoint.created",
      targetId: row.id,
      details: { name: row.name, kind: "listener" },
    });
    const key = await addKey(tx, caller, row.id, body.encryption_key, now);
    // One mail: its key is a part of the listener.
    await mailNewDestination(core, tx, caller, { kind: "endpoint_added", endpoint: row });
    return { row: { ...row, hasActiveKey: true }, secret, key };
  });
}

function listenerUrl(id: EndpointId): string {
  return `listener:${id}`;
}

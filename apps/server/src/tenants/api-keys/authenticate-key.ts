import type { Core } from "../../platform/core.ts";
import { type DisabledKey, environmentOf, type KeyCaller } from "../../platform/kernel/caller.ts";
import { findKeyOwner, rehashKey } from "./api-key.store.ts";

/**
 * The owner of a key. Every request queries the database, so disabling and deleting take effect at once on
 * every process. Any secret is hashed and looked up, so a wrong key costs the same as a valid one.
 */
export async function authenticateKey(
  { db, ring }: Pick<Core, "db" | "ring">,
  secret: string,
): Promise<KeyCaller | DisabledKey | null> {
  // Read before the query: the current key may change meanwhile.
  const { all, current } = ring.hashes("api-key-hash", secret);
  const owner = await findKeyOwner(db, all);
  if (owner === null) return null;
  const { id: keyId, organizationId } = owner;
  if (!owner.enabled) return { kind: "disabled_key", keyId };
  if (!current.hash.equals(owner.secretHash))
    await rehashKey(db, organizationId, keyId, owner.secretHash, {
      secretHash: current.hash,
      hashKeyId: current.keyId,
    });
  return {
    kind: "key",
    keyId,
    organizationId,
    scopes: owner.scopes,
    environment: environmentOf(owner),
    frozen: owner.frozen,
    agentsMayChangeWebhooks: owner.agentsMayChangeWebhooks,
  };
}

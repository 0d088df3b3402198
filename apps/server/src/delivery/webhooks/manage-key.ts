import type { EndpointId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import type * as contract from "@assay/contract/webhooks";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { violates } from "../../platform/db/errors.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { newId } from "../../platform/kernel/ids.ts";
import {
  type EncryptionKeyRow,
  findKeysByName,
  insertEncryptionKey,
  setKeyActive,
} from "./encryption-key.store.ts";
import { keyProblem } from "./encryption-key.ts";
import { findEndpoint } from "./endpoint.store.ts";
import { mailNewDestination } from "./notify-owners.ts";

type Needs = Pick<Core, "db" | "clock" | "ring" | "publicUrl">;

export async function registerKey(
  core: Needs,
  caller: OrganizationCaller,
  endpointId: EndpointId,
  body: BodyOf<typeof contract.registerKey>,
): Promise<EncryptionKeyRow> {
  refuseBadKey(body, "");
  const now = core.clock.now();
  try {
    return await core.db.transaction(async (tx) => {
      const endpoint = await findEndpoint(tx, caller, endpointId);
      if (endpoint === null) throw new ApiError("NOT_FOUND");
      const key = await addKey(tx, caller, endpointId, body, now);
      await mailNewDestination(core, tx, caller, { kind: "key_added", endpoint, keyId: key.keyId });
      return key;
    });
  } catch (error) {
    if (violates(error, "webhook_keys_key_id"))
      throw new ApiError("CONFLICT", {
        message: "The endpoint already has a key with this `key_id`.",
        hint: "Choose another `key_id`, or reactivate the key that has it.",
      });
    throw error;
  }
}

/** `at` is the path of the key in the body. */
export function refuseBadKey(key: BodyOf<typeof contract.registerKey>, at: string): void {
  const problem = keyProblem(key.jwk, key.key_id);
  if (problem !== null) throw badField(`${at}${problem.field}`, problem.problem);
}

export async function addKey(
  tx: Tx,
  caller: OrganizationCaller,
  endpointId: EndpointId,
  key: BodyOf<typeof contract.registerKey>,
  now: Date,
): Promise<EncryptionKeyRow> {
  const created = await insertEncryptionKey(tx, {
    id: newId("whk", now),
    endpointId,
    organizationId: caller.organizationId,
    keyId: key.key_id,
    n: key.jwk.n,
    e: key.jwk.e,
    now,
  });
  await recordAct(tx, now, caller, {
    event: "webhook_key.registered",
    targetId: created.id,
    details: { key_id: created.keyId, webhook_endpoint_id: endpointId },
  });
  return created;
}

/** `name` is the `whk_` id, or a `key_id` that only one key of the environment has. Idempotent. */
export async function activateKey(
  core: Needs,
  caller: OrganizationCaller,
  name: string,
  active: boolean,
): Promise<EncryptionKeyRow> {
  const now = core.clock.now();
  const { organizationId } = caller;
  return core.db.transaction(async (tx) => {
    const [found, ...others] = await findKeysByName(tx, caller, name);
    if (found === undefined) throw new ApiError("NOT_FOUND");
    if (others.length > 0) {
      throw new ApiError("CONFLICT", {
        message: "Several keys of the environment have this `key_id`.",
        hint: "Use the `whk_` id of the key that you mean.",
      });
    }
    const changed = await setKeyActive(tx, organizationId, found.id, active, now);
    if (changed === null) return found;
    await recordAct(tx, now, caller, {
      event: active ? "webhook_key.reactivated" : "webhook_key.deactivated",
      targetId: changed.id,
      details: { key_id: changed.keyId, webhook_endpoint_id: changed.endpointId },
    });
    const endpoint = active ? await findEndpoint(tx, caller, changed.endpointId) : null;
    if (endpoint !== null)
      await mailNewDestination(core, tx, caller, { kind: "key_added", endpoint, keyId: changed.keyId });
    return changed;
  });
}

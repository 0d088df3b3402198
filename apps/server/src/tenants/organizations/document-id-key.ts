import { randomBytes } from "node:crypto";
import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { KeyRing } from "../../platform/lib/key-ring.ts";
import { readDocumentIdKey, setMissingDocumentIdKey } from "./organization.store.ts";

const keyBytes = 32;

export function newDocumentIdKey(ring: KeyRing, organizationId: OrganizationId): Buffer {
  return ring.seal("document-id", randomBytes(keyBytes), organizationId);
}

/**
 * The organization's secret for `service_document_id`. It is random and stored sealed, not derived from the
 * key ring, so that a rotation changes no identifier. An older organization gets one on first use.
 */
export async function openDocumentIdKey(
  { db, ring }: Pick<Core, "db" | "ring">,
  organizationId: OrganizationId,
): Promise<Buffer> {
  let sealed = await readDocumentIdKey(db, organizationId);
  if (sealed === null) {
    await setMissingDocumentIdKey(db, organizationId, newDocumentIdKey(ring, organizationId));
    sealed = await readDocumentIdKey(db, organizationId);
  }
  if (sealed === null) throw new Error("the organization has no key for document identifiers");
  return ring.open("document-id", sealed, organizationId);
}

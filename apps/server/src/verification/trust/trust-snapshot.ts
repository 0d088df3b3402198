import { createHash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";

/**
 * What the installation trusts at one version, in memory that threads share without copying. The digest
 * distinguishes two states with the same version, such as before and after a restored backup.
 */
export type TrustSnapshot = { version: number; digest: string; packed: SharedArrayBuffer };

export function packTrust(version: number, records: readonly TrustRecord[]): TrustSnapshot {
  const bytes = serialize(records);
  const packed = new SharedArrayBuffer(bytes.length);
  new Uint8Array(packed).set(bytes);
  return { version, digest: createHash("sha256").update(bytes).digest("hex"), packed };
}

export function unpackTrust({ packed }: TrustSnapshot): readonly TrustRecord[] {
  return deserialize(Buffer.from(new Uint8Array(packed))) as readonly TrustRecord[];
}

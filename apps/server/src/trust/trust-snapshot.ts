import { deserialize, serialize } from "node:v8";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";

/** What the installation trusts at one version, in memory that threads share: handing it to one copies nothing. */
export type TrustSnapshot = { version: number; packed: SharedArrayBuffer };

export function packTrust(version: number, records: readonly TrustRecord[]): TrustSnapshot {
  const bytes = serialize(records);
  const packed = new SharedArrayBuffer(bytes.length);
  new Uint8Array(packed).set(bytes);
  return { version, packed };
}

export function unpackTrust({ packed }: TrustSnapshot): readonly TrustRecord[] {
  return deserialize(Buffer.from(new Uint8Array(packed))) as readonly TrustRecord[];
}

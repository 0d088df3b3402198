import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Environment } from "@assay/contract/facts";
import type { CryptoKey } from "jose";
import type { Core } from "../../platform/core.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import {
  findCurrentIdentity,
  findIdentityByClientId,
  insertIdentity,
  type WalletIdentityRow,
} from "./wallet-identity.store.ts";
import { keyFits, readChain } from "./wallet-identity.ts";
import { writeSandboxLeaf } from "./write-certificate.ts";

/** The identity that a request to a wallet is made with. */
export type WalletIdentity = {
  id: string;
  /** With its prefix. */
  clientId: string;
  /** DER, leaf first, without the anchor. */
  chain: readonly Uint8Array[];
  privateKey: CryptoKey;
  /** Registration certificates that the request carries. */
  registration: readonly string[];
};

type Around = Pick<Core, "db" | "ring" | "clock" | "publicUrl">;

/** If several processes create the sandbox's identity at once, only one inserts this row. */
const sandboxIdentityId = "00000000-0000-4000-8000-000000000110";
const sandboxYears = 40;

/** The identity that signs new requests; null if live has none yet. The sandbox creates one at first use. */
export async function currentWalletIdentity(
  around: Around,
  environment: Environment,
): Promise<WalletIdentity | null> {
  const now = around.clock.now();
  const known = await findCurrentIdentity(around.db, environment, now);
  if (known !== null) return open(around, known);
  if (environment === "live") return null;
  await makeSandboxIdentity(around, now);
  const made = await findCurrentIdentity(around.db, environment, now);
  return made === null ? null : open(around, made);
}

/** The identity that signed a request which is still open, whichever is current now. */
export async function walletIdentityByClientId(
  around: Around,
  clientId: string,
): Promise<WalletIdentity | null> {
  const row = await findIdentityByClientId(around.db, clientId);
  return row === null ? null : open(around, row);
}

async function open({ ring }: Pick<Core, "ring">, row: WalletIdentityRow): Promise<WalletIdentity | null> {
  const { id, clientId, chain, registration } = row;
  if (clientId === null) return null;
  const pkcs8 = new Uint8Array(ring.open("wallet-identity", row.privateKeySealed, id));
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  return {
    id,
    clientId,
    chain: chain.map((der) => new Uint8Array(der)),
    privateKey: await crypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]),
    registration,
  };
}

async function makeSandboxIdentity({ db, ring, publicUrl }: Around, now: Date): Promise<void> {
  const key = newIdentityKey();
  const validity = { from: later(now, -dayMs), until: later(now, sandboxYears * 365 * dayMs) };
  const leaf = await writeSandboxLeaf(new URL(publicUrl()).hostname, key, newIdentityKey(), validity);
  const privateKeySealed = sealKey(ring, key, sandboxIdentityId);
  const identity = { id: sandboxIdentityId, environment: "sandbox", privateKeySealed } as const;
  await insertIdentity(db, identity, readChain([leaf], now), now);
}

/** Whether an identity has the key of a leaf. A key that this ring does not open is of no use. */
export function isKeyOf(
  leaf: Uint8Array,
  { id, privateKeySealed }: Pick<WalletIdentityRow, "id" | "privateKeySealed">,
  ring: Core["ring"],
): boolean {
  try {
    return keyFits(ring.open("wallet-identity", privateKeySealed, id), leaf);
  } catch {
    return false;
  }
}

export function newIdentityKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

export function sealKey(ring: Core["ring"], key: KeyObject, id: string): Buffer {
  return ring.seal("wallet-identity", key.export({ type: "pkcs8", format: "der" }), id);
}

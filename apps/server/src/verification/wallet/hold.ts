import { createHash, hkdfSync } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { decrypt, encrypt } from "../../platform/lib/aes-gcm.ts";
import type { WalletProof } from "../evidence/wallet/proof.ts";

/** Finds the row of a code. Derived separately from the key, so that it does not reveal the key. */
export function hashCode(code: string): Buffer {
  return createHash("sha256").update(`find${code}`).digest();
}

function keyOf(code: string): Buffer {
  return Buffer.from(hkdfSync("sha256", code, "assay", "hold", 32));
}

/**
 * Encrypts a proof while the person is on the way back from the wallet. Only the code decrypts it, which the
 * service does not keep. `proof` is overwritten.
 */
export function holdProof(code: string, idHash: Buffer, proof: WalletProof): Buffer {
  const key = keyOf(code);
  const content = serialize(proof);
  const held = encrypt(key, content, idHash);
  for (const bytes of [key, content, proof.content]) bytes.fill(0);
  return held;
}

export function releaseProof(code: string, idHash: Buffer, held: Buffer): WalletProof {
  const key = keyOf(code);
  const content = decrypt(key, held, idHash);
  const opened = deserialize(content) as WalletProof;
  // The result may be a view of the bytes that are overwritten here, so copy it.
  const proof = { ...opened, content: Uint8Array.from(opened.content) };
  for (const bytes of [key, content]) bytes.fill(0);
  return proof;
}

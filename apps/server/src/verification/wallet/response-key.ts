import { createHash, generateKeyPairSync } from "node:crypto";
import type { JWK } from "jose";
import type { Core } from "../../platform/core.ts";
import type { WalletRequest } from "./wallet-request.ts";

/** The key that a wallet encrypts its answer to: one for each request. */
export type ResponseKey = { publicKey: JWK; privateKey: JWK; thumbprint: Uint8Array };

type EcKey = { crv: string; kty: string; x: string; y: string; d: string };

/** The private key in the form that is sealed and stored. */
export function newResponseKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return JSON.stringify(privateKey.export({ format: "jwk" }));
}

/** Null for a request whose answer is not encrypted, and once it is answered. */
export function openResponseKey(
  { ring }: Pick<Core, "ring">,
  { idHash, responseKeySealed }: Pick<WalletRequest, "idHash" | "responseKeySealed">,
): ResponseKey | null {
  if (responseKeySealed === null) return null;
  return readResponseKey(ring.openText("wallet-response", responseKeySealed, idHash.toString("hex")));
}

export function readResponseKey(stored: string): ResponseKey {
  const { crv, kty, x, y, d } = JSON.parse(stored) as EcKey;
  // RFC 7638: these members, in this order, without white space.
  const thumbprint = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest();
  const named = { kty, crv, x, y, alg: "ECDH-ES", use: "enc", kid: thumbprint.toString("base64url") };
  return { publicKey: named, privateKey: { ...named, d }, thumbprint: new Uint8Array(thumbprint) };
}

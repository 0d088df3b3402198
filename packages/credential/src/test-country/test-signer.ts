import type { CryptoKey } from "jose";
import { type Purpose, purposes, type TrustAnchor } from "../trust-anchor.ts";
import { testAuthorities, unknownAuthority } from "./test-authorities.ts";

/** A key with the certificate that goes with what it signs. The anchor is not in the chain. */
export type TestSigner = {
  readonly privateKey: CryptoKey;
  readonly algorithm: "ES256";
  readonly chain: readonly Uint8Array[];
};

/** The authorities of the test country. They count in a sandbox, and nowhere else. */
export function testCountryAnchors(): readonly TrustAnchor[] {
  return purposes.map((purpose) => ({
    purpose,
    certificate: bytesOf(testAuthorities[purpose].root.certificate),
    list: "sandbox",
    stale: false,
  }));
}

/** Signs credentials of a purpose; `unknown` signs them as an issuer that no list names. */
export async function testIssuer(purpose: Purpose | "unknown"): Promise<TestSigner> {
  return await signerOf(purpose === "unknown" ? unknownAuthority.signer : testAuthorities[purpose].signer);
}

export async function testStatusSigner(purpose: Purpose): Promise<TestSigner> {
  return await signerOf(testAuthorities[purpose].status);
}

async function signerOf({ key, certificate }: { key: string; certificate: string }): Promise<TestSigner> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const privateKey = await crypto.subtle.importKey("pkcs8", bytesOf(key), algorithm, true, ["sign"]);
  return { privateKey, algorithm: "ES256", chain: [bytesOf(certificate)] };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

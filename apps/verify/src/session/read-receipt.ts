import type { ReceiptKey } from "./api.ts";

/** The signed content, as far as people read it. */
type Receipt = {
  iss: string;
  jti: string;
  session_id: string;
  sandbox: boolean;
  organization: { name: string; verified_domain: string | null };
  asked: Record<
    string,
    { required: boolean; reason: string; reasons?: Record<string, string>; source?: string }
  >;
  agreed: string[];
  declined: string[];
  terms: { version: string; hash: string; language: string | null };
  given_at: string;
};

function bytesOf(part: string): Uint8Array<ArrayBuffer> {
  const text = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function jsonOf(part: string): unknown {
  return JSON.parse(new TextDecoder().decode(bytesOf(part)));
}

export function readReceipt(jws: string): Receipt {
  return jsonOf(jws.split(".")[1] ?? "") as Receipt;
}

/** Whether one of the keys made the signature. Null if the browser does not support Ed25519. */
export async function checkReceipt(jws: string, keys: readonly ReceiptKey[]): Promise<boolean | null> {
  const [head = "", payload = "", signature = ""] = jws.split(".");
  const { kid, typ } = jsonOf(head) as { kid: string; typ: string };
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined || typ !== "consent-receipt+jwt") return false;
  try {
    const jwk = { kty: key.kty, crv: key.crv, x: key.x };
    const imported = await crypto.subtle.importKey("jwk", jwk, { name: "Ed25519" }, false, ["verify"]);
    const signed = new TextEncoder().encode(`${head}.${payload}`);
    return await crypto.subtle.verify({ name: "Ed25519" }, imported, bytesOf(signature), signed);
  } catch {
    return null;
  }
}

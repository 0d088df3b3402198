import { PageProblem } from "../api/page-problem.ts";
import { t } from "../i18n/words.ts";
import { fromBase64 } from "./read-key.ts";

/** Why a body could not be decrypted, in words. */
export class SealedError extends PageProblem {}

type Header = { alg?: unknown; enc?: unknown; kid?: unknown };

/** The name of the key that a body is encrypted to, or null if it names none. */
export function keyNameOf(jwe: string): string | null {
  const { kid } = headerOf(jwe);
  return typeof kid === "string" ? kid : null;
}

/** Decrypts the body of a delivery (a compact JWE, RFC 7516). */
export async function openSealed(jwe: string, privateKey: CryptoKey): Promise<string> {
  const [header = "", ...rest] = jwe.trim().split(".");
  const { alg, enc } = headerOf(jwe);
  const [wrapped, nonce, text, tag] = rest.map(fromBase64);
  if (alg !== "RSA-OAEP-256" || enc !== "A256GCM" || !wrapped || !nonce || !text || !tag)
    throw new SealedError(t.webhooks.problem.notBody);
  let contentKey: CryptoKey;
  try {
    const raw = await crypto.subtle.decrypt("RSA-OAEP", privateKey, wrapped);
    contentKey = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
  } catch {
    const name = keyNameOf(jwe);
    throw new SealedError(
      name === null ? t.webhooks.problem.otherKey : t.webhooks.problem.otherKeyNamed(name),
    );
  }
  try {
    const sealed = new Uint8Array([...text, ...tag]);
    const additionalData = new TextEncoder().encode(header);
    const opened = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: nonce, additionalData },
      contentKey,
      sealed,
    );
    return new TextDecoder().decode(opened);
  } catch {
    throw new SealedError(t.webhooks.problem.changed);
  }
}

function headerOf(jwe: string): Header {
  const [header = ""] = jwe.trim().split(".");
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64(header)));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Indented if it is JSON, unchanged otherwise. */
export function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

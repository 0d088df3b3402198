import { headerOf } from "./seal-payload.ts";

// No text of a JWE begins with this byte, because all begin with the letter e.
const asBytes = 1;
// The byte above, and the lengths of the key's name and of the encrypted key.
const headBytes = 5;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * The stored form of a sealed body (a compact JWE): the decoded bytes, with the id of the key in place of the
 * header. A body in another form is stored as text.
 */
export function packPayload(jwe: string): Buffer {
  const [header = "", ...rest] = jwe.split(".");
  const [encryptedKey, nonce, text, tag] = rest.map((part) => Buffer.from(part, "base64url"));
  const keyId = keyIdOf(header);
  if (keyId === null || !encryptedKey || !nonce || !text || !tag) return Buffer.from(jwe);
  const name = Buffer.from(keyId);
  const head = Buffer.from([
    asBytes,
    name.length >> 8,
    name.length & 255,
    encryptedKey.length >> 8,
    encryptedKey.length & 255,
  ]);
  const packed = Buffer.concat([head, name, encryptedKey, nonce, tag, text]);
  return unpackPayload(packed) === jwe ? packed : Buffer.from(jwe);
}

export function unpackPayload(stored: Buffer): string {
  if (stored[0] !== asBytes) return stored.toString();
  const keyAt = headBytes + stored.readUInt16BE(1);
  const nonceAt = keyAt + stored.readUInt16BE(3);
  const tagAt = nonceAt + nonceBytes;
  const textAt = tagAt + tagBytes;
  const part = (from: number, to?: number) => stored.toString("base64url", from, to);
  const header = headerOf(stored.toString("utf8", headBytes, keyAt));
  return [header, part(keyAt, nonceAt), part(nonceAt, tagAt), part(textAt), part(tagAt, textAt)].join(".");
}

function keyIdOf(header: string): string | null {
  try {
    const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid?: unknown };
    return typeof kid === "string" ? kid : null;
  } catch {
    return null;
  }
}

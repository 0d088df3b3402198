import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

const cipherName = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** The nonce, the encrypted content and the tag. `context` is bound in: the result opens only with the same one. */
export function encrypt(
  key: KeyObject | Buffer,
  content: string | Uint8Array,
  context: string | Buffer,
): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(content as never), cipher.final(), cipher.getAuthTag()]);
}

export function decrypt(key: KeyObject | Buffer, sealed: Buffer, context: string | Buffer): Buffer {
  const tagAt = sealed.length - tagBytes;
  if (tagAt < nonceBytes) throw new Error("sealed data is cut short");
  const decipher = createDecipheriv(cipherName, key, sealed.subarray(0, nonceBytes));
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, tagAt)), decipher.final()]);
}

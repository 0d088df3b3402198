import { CredentialError } from "./credential-error.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const notADigit = 255;
const digitValues = new Uint8Array(128).fill(notADigit);
for (let value = 0; value < alphabet.length; value++) digitValues[alphabet.charCodeAt(value)] = value;

/** Without padding, as JOSE and OpenID4VP write it. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let offset = 0; offset < bytes.length; offset += 3) {
    const left = bytes.length - offset;
    const group = ((bytes[offset] ?? 0) << 16) | ((bytes[offset + 1] ?? 0) << 8) | (bytes[offset + 2] ?? 0);
    text += alphabet.charAt(group >> 18) + alphabet.charAt((group >> 12) & 63);
    if (left > 1) text += alphabet.charAt((group >> 6) & 63);
    if (left > 2) text += alphabet.charAt(group & 63);
  }
  return text;
}

/**
 * Strict: no padding, no foreign characters and no bits after the last byte, so that each value has one text.
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 4 === 1) throw malformed();
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let written = 0;
  for (let index = 0; index < text.length; index++) {
    const value = digitValues[text.charCodeAt(index)] ?? notADigit;
    if (value === notADigit) throw malformed();
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      bytes[written++] = (bits >> bitCount) & 255;
    }
  }
  if ((bits & ((1 << bitCount) - 1)) !== 0) throw malformed();
  return bytes;
}

/** The standard alphabet, with or without padding, as `x5c` has it. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const unpadded = text.replace(/={1,2}$/, "");
  if (unpadded.length !== text.length && text.length % 4 !== 0) throw malformed();
  if (/[-_]/.test(unpadded)) throw malformed();
  return fromBase64Url(unpadded.replaceAll("+", "-").replaceAll("/", "_"));
}

export function toBase64(bytes: Uint8Array): string {
  const text = toBase64Url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

function malformed(): CredentialError {
  return new CredentialError("malformed", "base64: not well formed");
}

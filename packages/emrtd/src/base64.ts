import { EmrtdError } from "./emrtd-error.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const notADigit = 255;
const digitValues = new Uint8Array(128).fill(notADigit);
for (let value = 0; value < alphabet.length; value++) digitValues[alphabet.charCodeAt(value)] = value;

export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  let piece = "";
  for (let offset = 0; offset < bytes.length; offset += 3) {
    const left = bytes.length - offset;
    const group = ((bytes[offset] ?? 0) << 16) | ((bytes[offset + 1] ?? 0) << 8) | (bytes[offset + 2] ?? 0);
    piece += alphabet.charAt(group >> 18) + alphabet.charAt((group >> 12) & 63);
    piece += left > 1 ? alphabet.charAt((group >> 6) & 63) : "=";
    piece += left > 2 ? alphabet.charAt(group & 63) : "=";
    if (piece.length >= 4096) {
      pieces.push(piece);
      piece = "";
    }
  }
  pieces.push(piece);
  return pieces.join("");
}

/** Whitespace is passed over, as PEM and LDIF have it; anything else that is not base64 is refused. */
export function fromBase64(text: string): Uint8Array {
  const digits = text.replace(/[\s]+/g, "");
  const unpadded = digits.replace(/={1,2}$/, "");
  if (unpadded.length % 4 === 1 || (digits.length !== unpadded.length && digits.length % 4 !== 0)) {
    throw new EmrtdError("BYTES_INVALID", "The base64 text has an incomplete group");
  }
  const bytes = new Uint8Array(Math.floor((unpadded.length * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let written = 0;
  for (let index = 0; index < unpadded.length; index++) {
    const value = digitValues[unpadded.charCodeAt(index)] ?? notADigit;
    if (value === notADigit)
      throw new EmrtdError("BYTES_INVALID", "The base64 text has a character outside its alphabet");
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount >= 8) {
      bitCount -= 8;
      bytes[written++] = (bits >> bitCount) & 255;
    }
  }
  return bytes;
}

import { EmrtdError } from "../emrtd-error.ts";

/** ISO/IEC 9797-1 padding method 2: one 80, then zeros up to a whole block. */
export function padIso7816(data: Uint8Array, blockBytes: number): Uint8Array {
  const padded = new Uint8Array((Math.floor(data.length / blockBytes) + 1) * blockBytes);
  padded.set(data);
  padded[data.length] = 0x80;
  return padded;
}

export function unpadIso7816(data: Uint8Array): Uint8Array {
  let end = data.length - 1;
  while (end >= 0 && data[end] === 0) end--;
  if (end < 0 || data[end] !== 0x80) throw new EmrtdError("CRYPTO_INVALID", "The padding is damaged");
  return data.subarray(0, end);
}

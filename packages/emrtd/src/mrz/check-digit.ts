import { EmrtdError } from "../emrtd-error.ts";

const digits = "0123456789";

/**
 * ICAO 9303-3, 4.9: digits keep their value, letters count from 10,
 * the filler is 0; weights are 7, 3 and 1 in turn.
 */
export function checkDigit(...parts: readonly string[]): string {
  let sum = 0;
  let weight = 7;
  for (const part of parts) {
    for (let index = 0; index < part.length; index++) {
      sum += characterValue(part.charCodeAt(index)) * weight;
      weight = weight === 7 ? 3 : weight === 3 ? 1 : 7;
    }
  }
  return digits.charAt(sum % 10);
}

function characterValue(code: number): number {
  if (code === 0x3c) return 0;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x5a) return code - 0x41 + 10;
  throw new EmrtdError("MRZ_INVALID", "The machine readable zone has a character outside of A-Z, 0-9 and <");
}

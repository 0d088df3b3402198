import { EmrtdError } from "../emrtd-error.ts";

const weights = [7, 3, 1] as const;

/** ICAO 9303-3, 4.9: digits count as themselves, letters from 10, the filler as zero. */
export function checkDigit(text: string): string {
  let sum = 0;
  for (let index = 0; index < text.length; index++) {
    sum += characterValue(text.charCodeAt(index)) * (weights[index % 3] ?? 0);
  }
  return String(sum % 10);
}

function characterValue(code: number): number {
  if (code === 0x3c) return 0;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x5a) return code - 0x41 + 10;
  throw new EmrtdError("MRZ_INVALID", "The machine readable zone has a character outside of A-Z, 0-9 and <");
}

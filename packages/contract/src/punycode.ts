/** Parameters of RFC 3492, section 5. */
const [base, tMin, tMax, skew, damp, initialBias, initialCode] = [36, 1, 26, 38, 700, 72, 128];
const maxCode = 0x10ffff;

/**
 * Decodes the part of a label after `xn--`; null if it is not valid. Browsers have no decoder like Node's.
 */
export function decodePunycode(encoded: string): string | null {
  const delimiter = encoded.lastIndexOf("-");
  const codes = [...encoded.slice(0, Math.max(delimiter, 0))].map((letter) => letter.charCodeAt(0));
  let [code, position, bias] = [initialCode, 0, initialBias];
  let at = delimiter < 0 ? 0 : delimiter + 1;
  while (at < encoded.length) {
    const before = position;
    for (let [weight, k] = [1, base]; ; k += base) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === null) return null;
      position += digit * weight;
      if (position > maxCode * (codes.length + 1)) return null;
      const threshold = Math.min(Math.max(k - bias, tMin), tMax);
      if (digit < threshold) break;
      weight *= base - threshold;
    }
    bias = adapt(position - before, codes.length + 1, before === 0);
    code += Math.floor(position / (codes.length + 1));
    position %= codes.length + 1;
    if (code > maxCode || (code >= 0xd800 && code <= 0xdfff)) return null;
    codes.splice(position++, 0, code);
  }
  return codes.length > 63 ? null : String.fromCodePoint(...codes);
}

function digitOf(unit: number): number | null {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30 + 26;
  return unit >= 0x61 && unit <= 0x7a ? unit - 0x61 : null;
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? damp : 2));
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((base - tMin) * tMax) / 2; k += base) rest = Math.floor(rest / (base - tMin));
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew));
}

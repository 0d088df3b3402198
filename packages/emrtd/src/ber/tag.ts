/** Encoded universal tags, with the "constructed" bit for types that always have it. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  octetStringConstructed: 0x24,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  generalString: 0x1b,
  universalString: 0x1c,
  bmpString: 0x1e,
} as const;

/**
 * Context-specific, constructed: what an EXPLICIT tag or an IMPLICIT sequence looks like.
 * Numbers below 16,384.
 */
export function contextConstructed(number: number): number {
  if (number < 31) return 0xa0 | number;
  return number < 128 ? 0xbf00 | number : 0xbf0000 | ((0x80 | (number >> 7)) << 8) | (number & 0x7f);
}

/** Context-specific, primitive: what an IMPLICIT simple type looks like. Numbers below 31 only. */
export function contextPrimitive(number: number): number {
  return 0x80 | number;
}

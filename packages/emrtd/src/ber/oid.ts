import { EmrtdError } from "../emrtd-error.ts";

/** Longer identifiers than this occur in no document and would only cost arithmetic on huge numbers. */
const maxEncodedBytes = 64;

export function oidToBytes(dotted: string): Uint8Array {
  if (dotted.length > 256 || !/^[0-2](\.(0|[1-9][0-9]*))+$/.test(dotted)) {
    throw new EmrtdError("OID_INVALID", "An object identifier must be dotted decimal");
  }
  const arcs = dotted.split(".").map((arc) => BigInt(arc));
  const [first = 0n, second = 0n, ...rest] = arcs;
  if (first < 2n && second > 39n) {
    throw new EmrtdError("OID_INVALID", "The second arc of an object identifier is out of range");
  }
  const bytes: number[] = [];
  for (const arc of [first * 40n + second, ...rest]) {
    const groups = [Number(arc & 127n)];
    for (let left = arc >> 7n; left > 0n; left >>= 7n) groups.unshift(Number(left & 127n) | 128);
    bytes.push(...groups);
  }
  if (bytes.length > maxEncodedBytes)
    throw new EmrtdError("OID_INVALID", "The object identifier is too long");
  return Uint8Array.from(bytes);
}

export function oidFromBytes(bytes: Uint8Array): string {
  if (bytes.length === 0 || bytes.length > maxEncodedBytes)
    throw new EmrtdError("OID_INVALID", "The object identifier is empty or too long");
  const arcs: string[] = [];
  let arc = 0;
  let wide: bigint | null = null;
  let started = false;
  for (const byte of bytes) {
    if (!started && byte === 0x80) {
      throw new EmrtdError("OID_INVALID", "An arc of the object identifier has leading zeros");
    }
    started = true;
    if (wide === null && arc > 0xffff_ffff) wide = BigInt(arc);
    if (wide === null) arc = arc * 128 + (byte & 127);
    else wide = wide * 128n + BigInt(byte & 127);
    if ((byte & 128) !== 0) continue;
    if (arcs.length === 0) {
      const root = wide !== null || arc >= 80 ? 2 : Math.floor(arc / 40);
      arcs.push(String(root), String(wide === null ? arc - root * 40 : wide - 80n));
    } else {
      arcs.push(String(wide ?? arc));
    }
    arc = 0;
    wide = null;
    started = false;
  }
  if (started) throw new EmrtdError("OID_INVALID", "The last arc of the object identifier is incomplete");
  return arcs.join(".");
}

/** Identifiers of ICAO Doc 9303 and BSI TR-03110 that the data part of a document is made of. */
export const oids = {
  // ICAO
  ldsSecurityObject: "2.23.136.1.1.1",
  cscaMasterList: "2.23.136.1.1.2",
  cscaMasterListSigningKey: "2.23.136.1.1.3",
  activeAuthentication: "2.23.136.1.1.5",
  // BSI TR-03110
  publicKeyDh: "0.4.0.127.0.7.2.2.1.1",
  publicKeyEcdh: "0.4.0.127.0.7.2.2.1.2",
  terminalAuthentication: "0.4.0.127.0.7.2.2.2",
  chipAuthenticationDh: "0.4.0.127.0.7.2.2.3.1",
  chipAuthenticationDh3Des: "0.4.0.127.0.7.2.2.3.1.1",
  chipAuthenticationDhAes128: "0.4.0.127.0.7.2.2.3.1.2",
  chipAuthenticationEcdh: "0.4.0.127.0.7.2.2.3.2",
  chipAuthenticationEcdh3Des: "0.4.0.127.0.7.2.2.3.2.1",
  chipAuthenticationEcdhAes128: "0.4.0.127.0.7.2.2.3.2.2",
  chipAuthenticationEcdhAes256: "0.4.0.127.0.7.2.2.3.2.4",
  paceDhGm: "0.4.0.127.0.7.2.2.4.1",
  paceEcdhGm: "0.4.0.127.0.7.2.2.4.2",
  paceDhIm: "0.4.0.127.0.7.2.2.4.3",
  paceEcdhIm: "0.4.0.127.0.7.2.2.4.4",
  paceEcdhCam: "0.4.0.127.0.7.2.2.4.6",
  cardInfo: "0.4.0.127.0.7.2.2.6",
  securityObject: "0.4.0.127.0.7.3.2.1",
  // key algorithms
  rsaEncryption: "1.2.840.113549.1.1.1",
  ecPublicKey: "1.2.840.10045.2.1",
  primeField: "1.2.840.10045.1.1",
  dhKeyAgreement: "1.2.840.113549.1.3.1",
  dhPublicNumber: "1.2.840.10046.2.1",
  // CMS
  signedData: "1.2.840.113549.1.7.2",
} as const;

import { oids, oidToBytes } from "../ber/oid.ts";
import { type CipherName, type CipherSuite, cipherSuites } from "../crypto/cipher-suite.ts";
import { EmrtdError } from "../emrtd-error.ts";

export type PaceMapping = "generic" | "integrated" | "chip-authentication";

export type PaceProtocol = {
  readonly oid: string;
  readonly oidBytes: Uint8Array;
  readonly agreement: "DH" | "ECDH";
  readonly mapping: PaceMapping;
  readonly suite: CipherSuite;
};

const families: readonly { oid: string; agreement: "DH" | "ECDH"; mapping: PaceMapping }[] = [
  { oid: oids.paceDhGm, agreement: "DH", mapping: "generic" },
  { oid: oids.paceEcdhGm, agreement: "ECDH", mapping: "generic" },
  { oid: oids.paceDhIm, agreement: "DH", mapping: "integrated" },
  { oid: oids.paceEcdhIm, agreement: "ECDH", mapping: "integrated" },
  { oid: oids.paceEcdhCam, agreement: "ECDH", mapping: "chip-authentication" },
];

/** The last arc of the object identifiers of PACE and of chip authentication alike. */
export const cipherArcs: Readonly<Record<string, CipherName>> = {
  "1": "3DES",
  "2": "AES-128",
  "3": "AES-192",
  "4": "AES-256",
};

/** ICAO Doc 9303-11, section 9.2.3. Throws PROTOCOL_UNSUPPORTED for anything that is not in its table. */
export function paceProtocol(oid: string): PaceProtocol {
  const dot = oid.lastIndexOf(".");
  const family = families.find((candidate) => candidate.oid === oid.slice(0, dot));
  const cipher = cipherArcs[oid.slice(dot + 1)];
  if (
    family === undefined ||
    cipher === undefined ||
    (family.mapping === "chip-authentication" && cipher === "3DES")
  ) {
    throw new EmrtdError("PROTOCOL_UNSUPPORTED", "The chip offers a variant of PACE that is not known");
  }
  return {
    oid,
    oidBytes: oidToBytes(oid),
    agreement: family.agreement,
    mapping: family.mapping,
    suite: cipherSuites[cipher],
  };
}

/** The object identifier of a variant, for personalising a software chip. */
export function paceOid(agreement: "DH" | "ECDH", mapping: PaceMapping, cipher: CipherName): string {
  const family = families.find(
    (candidate) => candidate.agreement === agreement && candidate.mapping === mapping,
  );
  const arc = Object.entries(cipherArcs).find(([, name]) => name === cipher)?.[0];
  if (family === undefined || arc === undefined) {
    throw new EmrtdError("PROTOCOL_UNSUPPORTED", "There is no such variant of PACE");
  }
  return `${family.oid}.${arc}`;
}

import { nullValue, oid, sequence } from "../ber/write.ts";

const nist = "2.16.840.1.101.3.4.2";
const pkcs1 = "1.2.840.113549.1.1";
const x962 = "1.2.840.10045.4";

/** Per hash its name in Node, its identifier, and those of signatures with it. */
export const digests = {
  "SHA-1": { bytes: 20, node: "sha1", oid: "1.3.14.3.2.26", rsa_pkcs1: `${pkcs1}.5`, ecdsa: `${x962}.1` },
  "SHA-224": { bytes: 28, node: "sha224", oid: `${nist}.4`, rsa_pkcs1: `${pkcs1}.14`, ecdsa: `${x962}.3.1` },
  "SHA-256": { bytes: 32, node: "sha256", oid: `${nist}.1`, rsa_pkcs1: `${pkcs1}.11`, ecdsa: `${x962}.3.2` },
  "SHA-384": { bytes: 48, node: "sha384", oid: `${nist}.2`, rsa_pkcs1: `${pkcs1}.12`, ecdsa: `${x962}.3.3` },
  "SHA-512": { bytes: 64, node: "sha512", oid: `${nist}.3`, rsa_pkcs1: `${pkcs1}.13`, ecdsa: `${x962}.3.4` },
} as const;

export type DigestName = keyof typeof digests;
export const digestNames = Object.keys(digests) as DigestName[];

const byOid: ReadonlyMap<string, DigestName> = new Map(digestNames.map((name) => [digests[name].oid, name]));

export function digestForOid(dotted: string): DigestName | null {
  return byOid.get(dotted) ?? null;
}

export function hashAlgorithm(name: DigestName): Uint8Array {
  return sequence(oid(digests[name].oid), nullValue());
}

import { generateKeyPairSync } from "node:crypto";
import { oids } from "../../src/ber/oid.ts";
import { integer, oid, sequence, setOf, tlv } from "../../src/ber/write.ts";
import type { ChipFileName } from "../../src/lds/chip-files.ts";
import type { MrzKeyFields } from "../../src/mrz/mrz-key.ts";
import { seededRandom } from "./seeded-random.ts";

export const sampleKey: MrzKeyFields = {
  documentNumber: "L898902C3",
  dateOfBirth: "740812",
  dateOfExpiry: "120415",
};
export const sampleCan = "135792";

/** Files with the outer shape of real ones and noise inside: enough for everything below the data layer. */
export function sampleFiles(options: { dg2Bytes?: number } = {}): Partial<Record<ChipFileName, Uint8Array>> {
  const noise = seededRandom("files");
  return {
    COM: tlv(0x60, noise(22)),
    DG1: tlv(0x61, noise(93)),
    DG2: tlv(0x75, noise(options.dg2Bytes ?? 20_000)),
    DG3: tlv(0x63, noise(100)),
    SOD: tlv(0x77, noise(1_700)),
  };
}

export type SampleAgreementKey = {
  readonly spki: Uint8Array;
  readonly pkcs8: Uint8Array;
};

export function ecKey(namedCurve: string, paramEncoding: "named" | "explicit" = "named"): SampleAgreementKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve, paramEncoding });
  return {
    spki: Uint8Array.from(publicKey.export({ format: "der", type: "spki" })),
    pkcs8: Uint8Array.from(privateKey.export({ format: "der", type: "pkcs8" })),
  };
}

/** DG14 with one key and the ways to use it; an empty list leaves out the ways, as early documents do. */
export function dg14(
  key: SampleAgreementKey,
  protocols: readonly string[],
  options: { keyId?: number; agreement?: "DH" | "ECDH" } = {},
): Uint8Array {
  const keyId = options.keyId === undefined ? [] : [integer(options.keyId)];
  const keyOid = options.agreement === "DH" ? oids.publicKeyDh : oids.publicKeyEcdh;
  return tlv(
    0x6e,
    setOf(
      ...protocols.map((protocol) => sequence(oid(protocol), integer(1), ...keyId)),
      sequence(oid(keyOid), key.spki, ...keyId),
    ),
  );
}

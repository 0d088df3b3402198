import type { CryptoKey } from "jose";
import { digest } from "../bytes.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, CborTag, type CborValue, embedded } from "../cbor/value.ts";
import { writeCoseKey } from "../cose/cose-key.ts";
import { label } from "../cose/headers.ts";
import { signSign1 } from "../cose/sign1.ts";
import type { EcAlgorithm } from "../ec-algorithm.ts";
import type { StatusReference } from "../verdict.ts";
import type { DigestAlgorithm } from "./mobile-security-object.ts";

export type MdocOrder = {
  docType: string;
  /** By namespace and element. */
  nameSpaces: Readonly<Record<string, Readonly<Record<string, CborValue>>>>;
  /** Signer first, without the authority. */
  signer: { chain: readonly Uint8Array[]; privateKey: CryptoKey; algorithm: EcAlgorithm };
  /** The holder's public key; null binds the credential to no key. */
  deviceKey: CryptoKey | null;
  signed: Date;
  validFrom: Date;
  validUntil: Date;
  status?: StatusReference;
  digestAlgorithm?: DigestAlgorithm;
};

/** The issuer's output for a wallet. */
export type IssuedMdoc = {
  docType: string;
  issuerAuth: readonly CborValue[];
  items: readonly { nameSpace: string; element: string; bytes: Uint8Array }[];
};

/** The issuer's half, for tests and for the test country. */
export async function issueMdoc(order: MdocOrder): Promise<IssuedMdoc> {
  const items = Object.entries(order.nameSpaces).flatMap(([nameSpace, elements]) =>
    Object.entries(elements).map(([element, value], digestId) => ({
      nameSpace,
      element,
      digestId,
      bytes: encode(
        new Map<CborKey, CborValue>([
          ["digestID", digestId],
          ["random", crypto.getRandomValues(new Uint8Array(32))],
          ["elementIdentifier", element],
          ["elementValue", value],
        ]),
      ),
    })),
  );
  const algorithm = order.digestAlgorithm ?? "SHA-256";
  const digests = new Map<string, Map<CborKey, CborValue>>();
  for (const { nameSpace, digestId, bytes } of items) {
    const byId = digests.get(nameSpace) ?? new Map<CborKey, CborValue>();
    digests.set(nameSpace, byId.set(digestId, await digest(algorithm, encode(embedded(bytes)))));
  }
  const mso = new Map<CborKey, CborValue>([
    ["version", "1.0"],
    ["digestAlgorithm", algorithm],
    ["valueDigests", digests],
    ...(order.deviceKey === null
      ? []
      : ([["deviceKeyInfo", new Map([["deviceKey", await writeCoseKey(order.deviceKey)]])]] as const)),
    ["docType", order.docType],
    [
      "validityInfo",
      new Map([
        ["signed", timeOf(order.signed)],
        ["validFrom", timeOf(order.validFrom)],
        ["validUntil", timeOf(order.validUntil)],
      ]),
    ],
    ...(order.status === undefined ? [] : ([["status", statusOf(order.status)]] as const)),
  ]);
  const { chain } = order.signer;
  const [leaf] = chain;
  const issuerAuth = await signSign1({
    key: order.signer,
    payload: encode(embedded(encode(mso))),
    unprotectedHeaders: new Map([[label.x5chain, leaf !== undefined && chain.length === 1 ? leaf : chain]]),
  });
  return { docType: order.docType, issuerAuth, items };
}

/** `full-date`, as dates of birth and expiry are written. */
export function fullDate(day: string): CborTag {
  return new CborTag(1004, day);
}

/** ISO/IEC 18013-5 has no fractions of seconds here. */
function timeOf(time: Date): CborTag {
  return new CborTag(0, `${time.toISOString().slice(0, 19)}Z`);
}

function statusOf({ uri, index }: StatusReference): CborValue {
  return new Map([
    [
      "status_list",
      new Map<CborKey, CborValue>([
        ["idx", index],
        ["uri", uri],
      ]),
    ],
  ]);
}

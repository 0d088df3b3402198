import type { CryptoKey } from "jose";
import { encode } from "../cbor/encode.ts";
import { type CborKey, type CborValue, embedded } from "../cbor/value.ts";
import { makeMac0 } from "../cose/mac0.ts";
import { signSign1 } from "../cose/sign1.ts";
import type { EcAlgorithm } from "../ec-algorithm.ts";
import { deviceAuthenticationBytes, deviceMacKey } from "./device-authentication.ts";
import type { IssuedMdoc } from "./issue-mdoc.ts";

/** How the holder proves the credential's key. A MAC uses `ECDH` keys on P-256. */
export type HolderProof =
  | { kind: "signature"; privateKey: CryptoKey; algorithm: EcAlgorithm }
  | { kind: "mac"; privateKey: CryptoKey; readerKey: CryptoKey }
  | { kind: "none" };

export type Presentation = {
  transcript: Uint8Array;
  /** `[namespace, element]`, or everything. */
  disclose: readonly (readonly [string, string])[] | "all";
  proof: HolderProof;
};

/** The wallet's side: a DeviceResponse with one document. For tests and for the test wallet. */
export async function presentMdoc(
  mdoc: IssuedMdoc,
  presentation: Presentation,
): Promise<Uint8Array<ArrayBuffer>> {
  const { disclose } = presentation;
  const nameSpaces = new Map<CborKey, CborValue[]>();
  for (const { nameSpace, element, bytes } of mdoc.items) {
    if (disclose !== "all" && !disclose.some(([space, name]) => space === nameSpace && name === element))
      continue;
    nameSpaces.set(nameSpace, [...(nameSpaces.get(nameSpace) ?? []), embedded(bytes)]);
  }
  const deviceSigned = await signAsDevice(mdoc.docType, presentation);
  const document = new Map<CborKey, CborValue>([
    ["docType", mdoc.docType],
    [
      "issuerSigned",
      new Map<CborKey, CborValue>([
        ...(nameSpaces.size === 0 ? [] : ([["nameSpaces", nameSpaces]] as const)),
        ["issuerAuth", mdoc.issuerAuth],
      ]),
    ],
    ...(deviceSigned === null ? [] : ([["deviceSigned", deviceSigned]] as const)),
  ]);
  return encode(
    new Map<CborKey, CborValue>([
      ["version", "1.0"],
      ["documents", [document]],
      ["status", 0],
    ]),
  );
}

async function signAsDevice(docType: string, { transcript, proof }: Presentation): Promise<CborValue> {
  if (proof.kind === "none") return null;
  const nameSpaces = encode(new Map<CborKey, CborValue>());
  const content = deviceAuthenticationBytes(transcript, docType, encode(embedded(nameSpaces)));
  const deviceAuth: [CborKey, CborValue] =
    proof.kind === "signature"
      ? ["deviceSignature", await signSign1({ key: proof, payload: content, isDetached: true })]
      : [
          "deviceMac",
          await makeMac0(await deviceMacKey(proof.privateKey, proof.readerKey, transcript), content),
        ];
  return new Map<CborKey, CborValue>([
    ["nameSpaces", embedded(nameSpaces)],
    ["deviceAuth", new Map([deviceAuth])],
  ]);
}

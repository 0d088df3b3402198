import { isDeepStrictEqual } from "node:util";
import type { FuzzReader } from "../../../scripts/fuzz/fuzz-target.ts";
import { openAnnexC, sealAnnexC } from "../src/annex-c/annex-c.ts";
import type { AskedCredential } from "../src/asked.ts";
import { fromBase64, fromBase64Url, toBase64Url } from "../src/base64url.ts";
import { decode } from "../src/cbor/decode.ts";
import { encode } from "../src/cbor/encode.ts";
import { importCoseKey, readCoseKey } from "../src/cose/cose-key.ts";
import { readSingle, x5chainOf } from "../src/cose/headers.ts";
import { judgeMdoc } from "../src/mdoc/judge-mdoc.ts";
import { readMobileSecurityObject } from "../src/mdoc/mobile-security-object.ts";
import { readDeviceResponse } from "../src/mdoc/read-device-response.ts";
import { readCwtStatusContent } from "../src/status-list/read-cwt-status-list.ts";
import { readStatusList } from "../src/status-list/read-status-list.ts";
import type { TrustAnchor } from "../src/trust-anchor.ts";
import { readVical, readVicalContent } from "../src/vical/read-vical.ts";
import { parseCertificate } from "../src/x509/certificate.ts";
import { checkChain } from "../src/x509/chain.ts";
import { binding, now } from "../test/support/pid.ts";
import seeds from "./cbor-seeds.json" with { type: "json" };
import { damageCbor } from "./damage-cbor.ts";
import keys from "./jose-seeds.json" with { type: "json" };

const authority = fromBase64(keys.authority);
const anchors: readonly TrustAnchor[] = [
  { purpose: "pid", certificate: authority, list: "eu_list", stale: false },
];
const pid = "eu.europa.ec.eudi.pid.1";
const asked: AskedCredential = {
  id: "pid_mdoc",
  purpose: "pid",
  format: "mso_mdoc",
  claimSets: [["family_name", "birth_date", "nationality", "expiry_date"].map((name) => [pid, name])],
};
const context = { asked, binding, anchors, now, holderProof: "required" } as const;
const annexC = {
  kind: "annex_c",
  origin: "https://verifier.example",
  encryptionInfo: seeds.encryptionInfo,
} as const;
const statusOptions = { uri: "https://pid.example/status/1", anchors, purpose: "pid", now } as const;
const deviceResponse = fromBase64(seeds.deviceResponse);

const securityObject =
  readDeviceResponse(deviceResponse).documents[0]?.issuerAuth.payload ?? new Uint8Array();
const agreed = {
  familyName: "Čapek",
  birthDate: "1990-02-28",
  nationalities: ["DE", "FR"],
  expiryDate: "2031-05-01",
};

/**
 * A changed presentation may be accepted where no signature covers the change,
 * and then says of the person what it said before.
 */
async function judgeUnchanged(bytes: Uint8Array): Promise<void> {
  const verdict = await judgeMdoc(bytes, context);
  if (verdict.kind === "accepted" && !isDeepStrictEqual(verdict.attributes, agreed)) {
    throw new Error("accepted changed claims");
  }
}

async function judgeSecurityObject(payload: Uint8Array): Promise<void> {
  const { status } = readMobileSecurityObject(payload);
  if (status !== null && typeof status.uri !== "string") throw new Error("status without an address");
}

const coseKey = encode(
  new Map<number, number | Uint8Array>([
    [1, 2],
    [-1, 1],
    [-2, fromBase64Url(keys.holderKey.x)],
    [-3, fromBase64Url(keys.holderKey.y)],
  ]),
);
const readers: readonly Omit<FuzzReader, "damage">[] = [
  {
    name: "cbor",
    read: (bytes) => decode(bytes, { maxBytes: 65_536 }),
    seeds: () => [deviceResponse, securityObject],
  },
  {
    name: "cose",
    read: (bytes) => x5chainOf(readSingle(decode(bytes, { maxBytes: 65_536 }))),
    seeds: () => [fromBase64(seeds.vical)],
  },
  {
    name: "cose-key",
    read: (bytes) => importCoseKey(readCoseKey(decode(bytes, { maxBytes: 65_536 })), "ECDSA"),
    seeds: () => [coseKey],
  },
  { name: "device-response", read: readDeviceResponse, seeds: () => [deviceResponse] },
  { name: "security-object", read: judgeSecurityObject, seeds: () => [securityObject] },
  { name: "mdoc", isCostly: true, read: judgeUnchanged, seeds: () => [deviceResponse] },
  {
    name: "certificate",
    isCostly: true,
    read: parseCertificate,
    seeds: () => [authority, fromBase64(keys.signer)],
  },
  {
    name: "chain",
    isCostly: true,
    read: (bytes) => checkChain([bytes], anchors, { purpose: "pid", now, leaf: "any" }),
    seeds: () => [fromBase64(keys.signer)],
  },
  {
    name: "annex-c-answer",
    isCostly: true,
    read: (bytes) => openAnnexC(toBase64Url(bytes), keys.encryptionKey, annexC),
    seeds: () => [fromBase64Url(seeds.answer)],
  },
  {
    name: "annex-c-request",
    read: (bytes) => sealAnnexC(Uint8Array.of(1), { ...annexC, encryptionInfo: toBase64Url(bytes) }),
    seeds: () => [fromBase64Url(seeds.encryptionInfo)],
  },
  {
    name: "vical",
    isCostly: true,
    read: (bytes) => readVical(bytes, { signers: [authority], now }),
    seeds: () => [fromBase64(seeds.vical)],
  },
  {
    name: "vical-content",
    isCostly: true,
    read: readVicalContent,
    seeds: () => [fromBase64(seeds.vicalContent)],
  },
  {
    name: "status-list-cwt",
    isCostly: true,
    read: (bytes) => readStatusList(bytes, statusOptions),
    seeds: () => [fromBase64(seeds.statusList)],
  },
  {
    name: "status-list-cwt-content",
    read: (bytes) => readCwtStatusContent(bytes, statusOptions),
    seeds: () => [fromBase64(seeds.statusListContent)],
  },
];

/** Readers of CBOR, COSE and certificates. */
export const cborReaders: readonly FuzzReader[] = readers.map((reader) => ({
  ...reader,
  damage: damageCbor,
}));
